import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { useIsShown } from "../../ui/forms/use-is-shown";
import { Problem } from "../../ui/panels/problem";
import { Amount } from "../../ui/values/amount";
import { ForeignText, plainly } from "../../ui/values/foreign-text";
import { Time } from "../../ui/values/time";
import { ForgetPayment } from "./forget-payment";
import { type UnansweredPayment, useUnansweredPayments } from "./unanswered-payments";

/** Payments of this person that other tabs, or earlier ones, have sent, before another payment is typed. */
export function UnansweredList({ exceptKey }: { exceptKey: string | undefined }) {
  const { payments, forget } = useUnansweredPayments();
  return payments
    .filter(({ key }) => key !== exceptKey)
    .map((payment) => (
      <Unanswered key={payment.key} payment={payment} onForget={() => forget(payment.key)} />
    ));
}

/** Asking again is sending it again with its key: it gives the answer, and pays once at most. */
function Unanswered({ payment, onForget }: { payment: UnansweredPayment; onForget: () => void }) {
  const { key, body, sentAt } = payment;
  const navigate = useNavigate();
  const isShown = useIsShown();
  const [isForgetting, setForgetting] = useState(false);
  const ask = useAction({
    mutationFn: () => bursar.transactions.create(body, { idempotencyKey: key }),
    onSuccess: ({ id }) => {
      onForget();
      if (isShown()) void navigate({ to: "/transactions/$id", params: { id } });
    },
  });
  return (
    <section className="card stack" aria-label={`Payment ${plainly(body.reference)} without an answer`}>
      <p className="notice" data-tone="wait" role="status">
        The payment <ForeignText text={body.reference} /> of <Amount value={body.amount} asset={body.asset} />{" "}
        was sent <Time at={sentAt} />, and no answer has come. It may have been paid. Ask again before you
        type it again: that sends the same payment, which is paid now if it was not, and never twice.
      </p>
      {ask.error !== null && <Problem error={ask.error} />}
      <div className="row">
        <button
          type="button"
          className="button"
          data-tone="primary"
          disabled={ask.isPending}
          onClick={() => ask.mutate()}
        >
          {ask.isPending ? "Asking" : "Ask again"}
        </button>
        <button type="button" className="button" disabled={ask.isPending} onClick={() => setForgetting(true)}>
          Forget it
        </button>
      </div>
      {isForgetting && (
        <ForgetPayment
          onConfirm={() => {
            setForgetting(false);
            onForget();
          }}
          onClose={() => setForgetting(false)}
        />
      )}
    </section>
  );
}
