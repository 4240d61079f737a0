import type { ApprovalTally, Transaction } from "@bursar/client";
import { expect, it } from "vitest";
import { progressWords } from "./approval-progress";

const decision = { decision: "approve" };

function waitingWith(decisions: object[], state: Transaction["state"] = "awaiting_approval"): Transaction {
  return { state, approval: { required: 2, approved: decisions.length, decisions } } as Transaction;
}

it("the progress of a payment is what counts, and never says of how many if that is not known", () => {
  const tally = { required: 3, counted: 1 } as ApprovalTally;
  expect(progressWords(waitingWith([decision, decision]), tally)).toBe("1 of 3 counted");
  expect(progressWords(waitingWith([decision, decision]), undefined)).toBe("2 recorded");
  expect(progressWords(waitingWith([]), undefined)).toBe("0 of 2 counted");
  // It can have been approved with approvals that did not count.
  expect(progressWords(waitingWith([decision, decision, decision], "completed"), undefined)).toBe(
    "3 recorded",
  );
  expect(progressWords(waitingWith([], "failed"), undefined)).toBe("0 recorded");
});
