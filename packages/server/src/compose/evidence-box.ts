import type { EvidenceBox } from "../app/transactions/approval-evidence.js";
import type { Sealing } from "../credentials/sealing.js";

/** Encrypts the signed content of decisions, each bound to what was decided. */
export function createEvidenceBox(sealing: Sealing, contextOf: (subjectId: string) => string): EvidenceBox {
  return {
    seal: (subjectId, base) => sealing.seal(contextOf(subjectId), base),
    open: (subjectId, sealed) => {
      const base = sealing.open(contextOf(subjectId), sealed);
      if (base === undefined) throw new Error("the master key does not decrypt the signature of a decision");
      return base;
    },
  };
}
