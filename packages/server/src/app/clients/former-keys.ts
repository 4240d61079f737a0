import type { HeldKey } from "@bursar/domain";
import { publicKeyIdentity } from "../people/passkeys/cose-key.js";
import { publicKeyOf } from "../transactions/approvals/approval-evidence.js";
import type { ApiClient, ClientKey } from "./client.js";

/** A public key and the end of its use, as they are stored. */
export interface FormerKey {
  /** Null for all keys that ended until then: they are not remembered one by one. */
  key: string | null;
  until: string;
}

/** More than a client replaces while something that it has requested waits, and few enough to be stored with the client. */
export const formerKeysMax = 50;

/**
 * The former keys of a client after a change of its keys. Those that have an end are among them from the beginning, because nothing is written
 * when they expire. If there are too many, the oldest are forgotten, and any key could then have been one of them.
 */
export function formerKeysAfter(
  { keys: before, formerKeys = [] }: Pick<ApiClient, "keys" | "formerKeys">,
  after: readonly ClientKey[],
  now: Date,
): readonly FormerKey[] | undefined {
  const kept = new Set(after.map(({ id }) => id));
  const removed = before.filter(({ id }) => !kept.has(id));
  const ended = [
    ...removed.map((key) => ({ key, until: now })),
    ...after.flatMap((key) => (key.expiresAt === null ? [] : [{ key, until: key.expiresAt }])),
  ].flatMap(({ key, until }) => {
    const identity = identityOf(key);
    return identity === undefined ? [] : [{ key: identity, until: until.toISOString() }];
  });
  // Of one key, the last end counts. One that was removed before its end has ended now.
  const latest = new Map<string | null, FormerKey>();
  const changed = new Set(removed.map(identityOf));
  const nowText = now.toISOString();
  const earlier = (formerKeys ?? []).filter(
    ({ key, until }) => until <= nowText || !changed.has(key ?? undefined),
  );
  for (const one of [...earlier, ...ended])
    if (one.until >= (latest.get(one.key)?.until ?? "")) latest.set(one.key, one);
  const sorted = [...latest.values()].toSorted((one, other) => compare(one.until, other.until));
  const forgotten = sorted.slice(0, -formerKeysMax).at(-1);
  const remembered = sorted.slice(-formerKeysMax);
  if (forgotten !== undefined) return [{ key: null, until: forgotten.until }, ...remembered];
  return remembered.length > 0 ? remembered : undefined;
}

/** Of a client whose row was tampered with: whatever key it had. */
export function unknownKeys(now: Date): readonly FormerKey[] {
  return [{ key: null, until: now.toISOString() }];
}

/** The public keys that a client has, and those that it had. */
export function heldKeysOf({ keys, formerKeys }: Pick<ApiClient, "keys" | "formerKeys">): HeldKey[] {
  const held = keys.flatMap((key) => {
    const identity = identityOf(key);
    return identity === undefined ? [] : [{ key: identity, untilMs: key.expiresAt?.getTime() ?? null }];
  });
  const former = (formerKeys ?? []).map(({ key, until }) => ({ key, untilMs: Date.parse(until) }));
  return [...held, ...former];
}

/** Undefined for a shared secret. */
function identityOf(key: ClientKey): string | undefined {
  const publicKey = publicKeyOf(key);
  return publicKey === null ? undefined : publicKeyIdentity(publicKey);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
