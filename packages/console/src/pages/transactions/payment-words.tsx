import type { CreateTransactionBody } from "@bursar/client";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import type { UnansweredWords } from "../../unanswered/unanswered-words";

/** How payments without an answer are spoken of. */
export const paymentWords: UnansweredWords<CreateTransactionBody> = {
  noun: "payment",
  done: "paid",
  nameOf: ({ reference }) => reference,
  describe: ({ reference, amount, asset }) => (
    <>
      <ForeignText text={reference} /> of <Amount value={amount} asset={asset} />
    </>
  ),
  advice: "look for its reference in Transactions first",
};
