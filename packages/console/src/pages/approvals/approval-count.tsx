import type { Transaction } from "@bursar/client";
import { progressWords } from "./approval-progress";
import { useApprovalTally } from "./use-approval-tally";

/** Each row asks for its own, so less often than a page that shows one payment. */
const refreshMs = 30_000;

/** How many approvals a payment in a list has. */
export function ApprovalCount({ transaction }: { transaction: Transaction }) {
  const tally = useApprovalTally(transaction, refreshMs);
  const { approval } = transaction;
  if (approval === null) return null;
  const words = progressWords(transaction, tally);
  if (tally === undefined || tally.counted === approval.approved) return words;
  return (
    <span className="badge" data-tone="wait">
      {words}
    </span>
  );
}
