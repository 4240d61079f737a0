import type { AssetRegistry } from "@bursar/domain";
import { createApprovalLister, type EvidenceBox } from "../app/transactions/approvals/approval-evidence.js";
import { createApprovalDecider } from "../app/transactions/approvals/decide-approval.js";
import {
  createWaitingJudge,
  type JudgeWaitingDeps,
} from "../app/transactions/approvals/judge-waiting-transaction.js";
import { createApprovalTally } from "../app/transactions/approvals/show-approval-tally.js";
import type { ReadTransaction } from "../app/transactions/read-transaction.js";
import type { TransactionUseCases } from "../app/transactions/transaction-use-cases.js";
import type { Database } from "../store/core/database.js";
import type { EventLog } from "../store/events/events.js";
import { createApprovalStore } from "../store/transactions/approvals.js";
import { readOpenPayment } from "../store/transactions/settlement.js";

interface ApprovalNeeds extends JudgeWaitingDeps {
  database: Database;
  events: EventLog;
  assets: AssetRegistry;
  read: ReadTransaction;
  box: EvidenceBox;
  onRecorded: () => void;
  now: () => number;
}

/** The decisions of approvers: recorded, listed with their signatures, and counted. */
export function composeApprovals(
  needs: ApprovalNeeds,
): Pick<TransactionUseCases, "listApprovals" | "decideApproval" | "showApprovalTally"> {
  const { database, events, assets, read, box, policies, allowList, wallets, onRecorded, now } = needs;
  const store = createApprovalStore(database, events);
  const judgeWaiting = createWaitingJudge({ policies, allowList, wallets });
  return {
    listApprovals: createApprovalLister({ read, store, box }),
    decideApproval: createApprovalDecider({ store, read, box, judgeWaiting, onRecorded, now }),
    showApprovalTally: createApprovalTally({
      readOpenPayment: (...asked) => readOpenPayment(database, assets, ...asked),
      ...{ read, policies, now },
    }),
  };
}
