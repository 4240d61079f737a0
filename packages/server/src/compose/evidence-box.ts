import type { EvidenceBox, EvidenceSubject } from "../app/transactions/approvals/approval-evidence.js";
import type { Sealing } from "../credentials/sealing.js";

/** Encrypts the signed content of decisions, each bound to its tenant and to what was decided. */
export function createEvidenceBox(
  sealing: Sealing,
  now: () => number,
  contexts: { current: (subject: EvidenceSubject) => string; old: (subjectId: string) => string },
): EvidenceBox {
  return {
    seal: (subject, base) => sealing.seal(contexts.current(subject), base),
    open: (subject, sealed) =>
      sealing.open(contexts.current(subject), sealed) ?? sealing.open(contexts.old(subject.id), sealed),
    // The clock of the service follows that of the database, which somebody could set.
    hasPassed: (time) => time.getTime() <= Math.min(now(), Date.now()),
  };
}
