import type { Transaction } from "@bursar/client";

/** The state of an approval in words: one that is closed ended before enough people had approved. */
export function approvalWords(state: NonNullable<Transaction["approval"]>["state"]): string {
  return state === "closed" ? "not approved" : state;
}
