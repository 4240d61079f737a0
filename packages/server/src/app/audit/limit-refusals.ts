import { addressBlock } from "../../runtime/address-block.js";
import { createRecentCache } from "../../runtime/recent-cache.js";
import type { AuditDraft } from "./audit-entry.js";

interface Recorded {
  atMs: number;
  /** How many equal ones were not recorded since. */
  skipped: number;
}

/** How often the same refusal from the same address block gets an entry. */
export const recordedEveryMs = 60_000;
const kindsMax = 10_000;

/**
 * For refusals that an unauthenticated caller can cause in the audit log of a tenant as often as it likes, if it knows the id of a person. The
 * first one is recorded at once. Those that follow within a minute are counted in the next entry: the log of a tenant stays readable, and
 * does not grow with the rate of an attack.
 */
export function limitRefusals(
  audit: { record: (draft: AuditDraft) => void },
  now: () => number,
): { record: (draft: AuditDraft) => void } {
  const kinds = createRecentCache<Recorded>(kindsMax);
  return {
    record: (draft) => {
      const { tenantId, action, object, objects, code, address } = draft;
      const block = address && addressBlock(address);
      // A harmless refusal does not hide that of another account of the provider.
      const kind = JSON.stringify([tenantId, action, object, objects ?? null, code, block]);
      const nowMs = now();
      const last = kinds.get(kind);
      // A clock that was set back does not keep anything out of the log.
      if (last !== undefined && nowMs >= last.atMs && nowMs < last.atMs + recordedEveryMs) {
        last.skipped += 1;
        return;
      }
      kinds.set(kind, { atMs: nowMs, skipped: 0 });
      audit.record({ ...draft, repeated: draft.repeated + (last?.skipped ?? 0) });
    },
  };
}
