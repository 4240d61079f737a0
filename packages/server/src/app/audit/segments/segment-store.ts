import type { AuditBase, AuditDraft, AuditHead, AuditStore, ChainedAuditEntry } from "../audit-entry.js";
import type { ChainPosition } from "../chain-hash.js";

export interface SegmentStore extends Pick<AuditStore, "listAscending"> {
  /** Where a chain ends, up to where checkpoints cover it, and up to where it was removed. Undefined if there is no such chain. */
  readEnds: (tenantId: string) => Promise<ChainEnds | undefined>;
  /** The last entry that was written before this time; 0 if there is none. */
  findLastBefore: (tenantId: string, time: Date, ends: ChainEnds) => Promise<bigint>;
  /** The name of the current role, if it may not remove entries. */
  findPowerlessRole: () => Promise<string | undefined>;
  /**
   * Removes the entries after `from`, up to `to`, and moves the base to there, in one SQL transaction, which also records `entry`. It is
   * rolled back if `check` rejects what was removed, or if another command has moved the base.
   */
  remove: (removal: Removal) => Promise<void>;
}

export interface ChainEnds {
  head: AuditHead;
  /** The last entry of which a checkpoint was published. */
  checkpointNumber: bigint;
  base: AuditBase | undefined;
}

export interface Removal {
  from: bigint;
  to: ChainPosition;
  /** Throws if the removed entries, oldest first, are not those that were exported. */
  check: (removed: readonly ChainedAuditEntry[]) => void;
  entry: AuditDraft | undefined;
  now: Date;
}
