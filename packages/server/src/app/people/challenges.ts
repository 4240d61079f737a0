/** Challenges that are not stored: they are encrypted, and only their use is recorded. Any process accepts them. */
export interface Challenges {
  /** In base64url. It is valid for 5 minutes and for this purpose. */
  issue: (purpose: string) => string;
  /** Undefined if it was made for something else, by somebody else, or too long ago. */
  verify: (challenge: string, purpose: string) => { id: string; expiresAt: Date } | undefined;
}

export interface ChallengesDeps {
  seal: (content: Uint8Array) => Uint8Array;
  open: (sealed: Uint8Array) => Uint8Array | undefined;
  newUuid: () => string;
  now: () => number;
}

const lifetimeMs = 5 * 60_000;

export function createChallenges({ seal, open, newUuid, now }: ChallengesDeps): Challenges {
  return {
    issue: (purpose) => {
      const content = JSON.stringify({ id: newUuid(), purpose, expiresAtMs: now() + lifetimeMs });
      return Buffer.from(seal(Buffer.from(content))).toString("base64url");
    },
    verify: (challenge, purpose) => {
      const opened = open(Buffer.from(challenge, "base64url"));
      if (opened === undefined) return undefined;
      const content = JSON.parse(Buffer.from(opened).toString("utf8")) as {
        id: string;
        purpose: string;
        expiresAtMs: number;
      };
      if (content.purpose !== purpose || content.expiresAtMs <= now()) return undefined;
      return { id: content.id, expiresAt: new Date(content.expiresAtMs) };
    },
  };
}
