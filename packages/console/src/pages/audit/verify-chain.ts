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
  seen: SeenReport | undefined;
}

/** The entry that this browser saw last. It was removed by the operator, or more was written since than was read now. */
interface SeenReport {
  number: number;
  state: "reached" | "removed" | "not reached";
}

/** What was read of the log, newest first and without a filter. */
export interface ReadEntries {
  entries: readonly Pick<AuditEntry, "number" | "hash">[];
  /** Whether the log has no older ones. */
  isAll: boolean;
  /** The last entry that the operator has exported and removed. */
  removedTo: number | null;
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
 * Holds entries against signed checkpoints and against what was seen before. The hash of an entry is
 * keyed, so that it follows from the entry cannot be seen here. That the service has not replaced it since it signed can.
 */
export async function verifyChain(
  { entries, isAll, removedTo }: ReadEntries,
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
  const from = entries.at(-1)?.number ?? 0;
  const isRemoved = seen !== undefined && seen.number <= (removedTo ?? 0);
  if (seen !== undefined && seen.number < from && isAll && !isRemoved)
    faults.push(`The log begins at entry ${from}, and this browser has seen entry ${seen.number}.`);
  const isReached = seen !== undefined && seen.number >= from;
  const state = isReached ? "reached" : isRemoved ? "removed" : "not reached";
  return { from, to, confirmed, faults, seen: seen && { number: seen.number, state } };
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
