import type { CreateTransactionBody } from "@bursar/client";
import { useNavigate } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { Amount } from "../../ui/values/amount";
import { ForeignText, plainly } from "../../ui/values/foreign-text";
import { Time } from "../../ui/values/time";
import { useUnanswered } from "../../unanswered/unanswered";
import { UnansweredCard } from "../../unanswered/unanswered-card";
import { ForgetPayment } from "./forget-payment";

/** Payments of this person that other tabs, or earlier ones, have sent, before another payment is typed. */
export function UnansweredPayments({ exceptKey }: { exceptKey: string | undefined }) {
  const navigate = useNavigate();
  const { requests, forget } = useUnanswered<CreateTransactionBody>("payment");
  return requests
    .filter(({ key }) => key !== exceptKey)
    .map((request) => {
      const { key, body, sentAt } = request;
      return (
        <UnansweredCard
          key={key}
          request={request}
          label={`Payment ${plainly(body.reference)} without an answer`}
          post={bursar.transactions.create}
          onAnswer={({ id }, isShown) => {
            if (isShown) void navigate({ to: "/transactions/$id", params: { id } });
          }}
          onForget={() => forget(key)}
          question={(answers) => <ForgetPayment {...answers} />}
        >
          The payment <ForeignText text={body.reference} /> of{" "}
          <Amount value={body.amount} asset={body.asset} /> was sent <Time at={sentAt} />, and no answer has
          come. It may have been paid. Ask again before you type it again: that sends the same payment, which
          is paid now if it was not, and never twice.
        </UnansweredCard>
      );
    });
}
