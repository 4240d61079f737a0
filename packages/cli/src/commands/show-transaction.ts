import { type ApprovalTally, type Bursar, isBursarError, type Transaction } from "@bursar/client";
import type { Given } from "../parse/given.js";
import type { Context } from "./command.js";

/** Shows a transaction. For people, its approvals are those that count: JSON is what the service has answered. */
export async function showTransaction(
  { bursar: connect, output }: Context,
  given: Given,
): Promise<undefined> {
  const bursar = await connect();
  const transaction = await bursar.transactions.get(given.argument("transaction"));
  const isForPeople = output.format === "table" || output.format === "plain";
  output.one(isForPeople ? withCounted(transaction, await readTally(bursar, transaction)) : transaction);
  return undefined;
}

/** Undefined if nothing is to be counted. */
async function readTally(bursar: Bursar, { id, state, approval }: Transaction) {
  if (state !== "awaiting_approval" || approval === null || approval.decisions.length === 0) return undefined;
  try {
    return await bursar.transactions.approvalTally(id);
  } catch (error) {
    // It was decided meanwhile.
    if (isBursarError(error, "NOT_AWAITING_APPROVAL")) return undefined;
    throw error;
  }
}

/** `approved` is the number of those that are recorded, which need not count. */
function withCounted(transaction: Transaction, tally: ApprovalTally | undefined): object {
  if (transaction.approval === null) return transaction;
  const { approved: recorded, required, decisions, ...approval } = transaction.approval;
  const reasonOf = (clientId: string) =>
    tally?.decisions.find(({ client_id }) => client_id === clientId)?.reason ?? null;
  return {
    ...transaction,
    approval: {
      recorded,
      ...(tally === undefined ? { required } : { counted: tally.counted, required: tally.required }),
      ...approval,
      decisions: decisions.map((one) => ({ ...one, does_not_count: reasonOf(one.client_id) })),
    },
  };
}
