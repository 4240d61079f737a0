import type { AuditCheckpoint, AuditEntry } from "@bursar/client";
import { fromBase64url } from "../../session/passkeys";

/** What a page can say about the log without the service's keys. */
export interface ChainReport {
  /** The newest and the oldest entry that were read. */
  from: number;
  to: number;
  /** Checkpoints whose signature is right and whose entry was read. */
  confirmed: AuditCheckpoint[];
  faults: string[];
}

/** A public key of `/.well-known/bursar-audit-keys.json`. */
export interface PublicKey {
  kid: string;
  x: string;
}

/** A position of the log that this browser has seen before. */
export interface SeenPosition {
  number: number;
  hash: string;
}

/**
 * Holds entries, newest first and without a filter, against signed checkpoints and against what was seen before. The hash of an entry is
 * keyed, so that it follows from the entry cannot be seen here. That the service has not replaced it since it signed can.
 */
export async function verifyChain(
  entries: readonly AuditEntry[],
  checkpoints: readonly AuditCheckpoint[],
  keys: readonly PublicKey[],
  seen: SeenPosition | undefined,
): Promise<ChainReport> {
  const faults: string[] = [];
  const hashes = new Map(entries.map(({ number, hash }) => [number, hash]));
  entries.slice(1).forEach(({ number }, index) => {
    const newer = entries[index]?.number ?? 0;
    if (number !== newer - 1) faults.push(`Entry ${newer} is followed by entry ${number}.`);
  });
  const to = entries[0]?.number ?? 0;
  const confirmed: AuditCheckpoint[] = [];
  for (const checkpoint of checkpoints) {
    const { number, hash } = checkpoint;
    if (!(await isAuthentic(checkpoint, keys)))
      faults.push(`The signature of the checkpoint at entry ${number} is wrong.`);
    else if (number > to) faults.push(`The log ends at entry ${to}, before a checkpoint at entry ${number}.`);
    else if (hashes.has(number) && hashes.get(number) !== hash)
      faults.push(`Entry ${number} has another hash than the checkpoint that was signed for it.`);
    else if (hashes.has(number)) confirmed.push(checkpoint);
  }
  if (seen !== undefined && seen.number > to)
    faults.push(`The log ends at entry ${to}, and this browser has seen entry ${seen.number}.`);
  else if (seen !== undefined && hashes.has(seen.number) && hashes.get(seen.number) !== seen.hash)
    faults.push(`Entry ${seen.number} had another hash when this browser saw it before.`);
  return { from: entries.at(-1)?.number ?? 0, to, confirmed, faults };
}

async function isAuthentic(
  { signature, ...statement }: AuditCheckpoint,
  keys: readonly PublicKey[],
): Promise<boolean> {
  const key = keys.find(({ kid }) => kid === statement.key_id);
  if (key === undefined) return false;
  const jwk = { kty: "OKP", crv: "Ed25519", x: key.x };
  const imported = await crypto.subtle.importKey("jwk", jwk, { name: "Ed25519" }, false, ["verify"]);
  const members = Object.entries(statement).sort(([one], [other]) => (one < other ? -1 : 1));
  const signed = `bursar audit checkpoint\n${JSON.stringify(Object.fromEntries(members))}`;
  return crypto.subtle.verify(
    { name: "Ed25519" },
    imported,
    fromBase64url(signature),
    new TextEncoder().encode(signed),
  );
}
