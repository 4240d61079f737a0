import { auditAnswers } from "./audit-answers.js";
import { auditKeys } from "./audit-keys.js";
import { auditLog } from "./audit-log.js";
import type { Closing } from "./closing.js";
import type { Exchange } from "./exchange.js";
import type { OpeningBalance } from "./opening-balances.js";

/**
 * What the auditor is given: requests, answers, and what could be read when all was over. It knows nothing of the code and shares
 * nothing with it but the forms of the wire; it says which promises were not kept.
 */
export interface Evidence {
  closing: Closing;
  exchanges: readonly Exchange[];
  openings: readonly OpeningBalance[];
}

export function audit(evidence: Evidence): string[] {
  const log = auditLog(evidence);
  return [...auditKeys(evidence), ...log.violations, ...auditAnswers(evidence, log)];
}
