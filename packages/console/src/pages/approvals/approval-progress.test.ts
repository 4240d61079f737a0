import type { ApprovalTally, Transaction } from "@bursar/client";
import { expect, it } from "vitest";
import { progressWords } from "./approval-progress";

it("the progress of a payment is what counts, and what is recorded until that is known", () => {
  const approval = { required: 2, approved: 2 } as NonNullable<Transaction["approval"]>;
  expect(progressWords(approval, undefined)).toBe("2 of 2 recorded");
  expect(progressWords(approval, { required: 3, counted: 1 } as ApprovalTally)).toBe("1 of 3 counted");
});
