import type { SteppingNetwork } from "../../harness/rails/stepping-network.js";
import type { Closing } from "../world/closing.js";
import type { Exchange } from "../world/exchange.js";
import type { OpeningBalance } from "../world/opening-balances.js";
import { auditAnswers } from "./audit-answers.js";
import { auditKeys } from "./audit-keys.js";
import { auditLog } from "./audit-log.js";
import { auditNetwork } from "./audit-network.js";
import { auditTimes } from "./audit-times.js";

/**
 * What the auditor is given: requests, answers, and what could be read at the end. It knows nothing of the code and shares
 * nothing with it but the forms of the wire; it says which promises were not kept.
 */
export interface Evidence {
  closing: Closing;
  exchanges: readonly Exchange[];
  openings: readonly OpeningBalance[];
  tenant: string;
  /** The network outside, which has a truth of its own. */
  network: SteppingNetwork;
  /** What the database has lost by going back. */
  lostIds: ReadonlySet<string>;
  /** The transactions of which it has lost steps. */
  undoneIds: ReadonlySet<string>;
  /** The last epoch of the database. What was sent in it, when every process knew it, has no excuse. */
  epoch: number;
  /** When the run ended, by the world's own clock. */
  endedMs: number;
  /** How many transactions the tenant may make in a period. */
  transactionsMax: number | undefined;
}

export function audit(evidence: Evidence): string[] {
  const log = auditLog(evidence);
  return [
    ...auditKeys(evidence),
    ...log.violations,
    ...auditAnswers(evidence, log),
    ...auditNetwork(evidence),
    ...auditTimes(evidence),
  ];
}
