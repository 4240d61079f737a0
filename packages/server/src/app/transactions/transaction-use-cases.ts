import type { Recorded } from "../audit/record-creations.js";
import type { CreateDeposit } from "../deposits/create-deposit.js";
import type { ListEvents } from "../events/present-events.js";
import type { ReadEventPage } from "../events/read-event-page.js";
import type { ListApprovals } from "./approvals/approval-evidence.js";
import type { DecideApproval } from "./approvals/decide-approval.js";
import type { ShowApprovalTally } from "./approvals/show-approval-tally.js";
import type { CancelTransaction } from "./cancel-transaction.js";
import type { CreateTransaction } from "./create-transaction.js";
import type { ListByDeadline } from "./list-by-deadline.js";
import type { ListEntries } from "./list-entries.js";
import type { RecordRefusedItems } from "./record-refused-items.js";
import type { ShowTransaction } from "./show-transaction.js";
import type { TransactionStore } from "./transaction.js";

/** What can be asked about transactions and the log of what happened to them. */
export interface TransactionUseCases {
  createTransaction: Recorded<CreateTransaction>;
  createDeposit: CreateDeposit;
  recordRefusedItems: RecordRefusedItems;
  /** Whether an error means that the database is unavailable. */
  isUnavailable: (error: unknown) => boolean;
  showTransaction: ShowTransaction;
  listTransactions: TransactionStore["listTransactions"];
  /** Only what waits for approval. */
  listByDeadline: ListByDeadline;
  cancelTransaction: CancelTransaction;
  decideApproval: DecideApproval;
  listApprovals: ListApprovals;
  showApprovalTally: ShowApprovalTally;
  listEntries: ListEntries;
  listAssets: () => {
    code: string;
    caip19: string | null;
    decimals: number;
    network: string;
    minimum: string;
    maximum: string;
  }[];
  listEvents: ListEvents;
  readEventPage: ReadEventPage;
}
