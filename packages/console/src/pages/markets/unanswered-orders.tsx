import type { Order, PlaceOrderBody } from "@bursar/client";
import { bursar } from "../../api/bursar";
import { plainly } from "../../ui/values/foreign-text";
import { Time } from "../../ui/values/time";
import { ForgetQuestion } from "../../unanswered/forget-question";
import { useUnanswered } from "../../unanswered/unanswered";
import { UnansweredCard } from "../../unanswered/unanswered-card";

interface UnansweredOrdersProps {
  exceptKey: string | undefined;
  onAnswer: (order: Order) => void;
}

/** Orders of this person that other tabs, or earlier ones, have sent, in any market, before another one is typed. */
export function UnansweredOrders({ exceptKey, onAnswer }: UnansweredOrdersProps) {
  const { requests, forget } = useUnanswered<PlaceOrderBody>("order");
  return requests
    .filter(({ key }) => key !== exceptKey)
    .map((request) => {
      const { key, body, sentAt } = request;
      return (
        <UnansweredCard
          key={key}
          request={request}
          label={`Order to ${plainly(describeOrder(body))} without an answer`}
          post={bursar.orders.place}
          onAnswer={onAnswer}
          onForget={() => forget(key)}
          question={(answers) => <ForgetOrder {...answers} />}
        >
          The order to {plainly(describeOrder(body))} was sent <Time at={sentAt} />, and no answer has come.
          It may have been placed. Ask again before you type it again: that sends the same order, which is
          placed now if it was not, and never twice.
        </UnansweredCard>
      );
    });
}

/** Asks before an order is forgotten that may have been placed. */
export function ForgetOrder(answers: { onConfirm: () => void; onClose: () => void }) {
  return (
    <ForgetQuestion title="It may have been placed already" {...answers}>
      This forgets the order in this browser and cancels nothing. Typed again, it can be placed twice: look at
      your orders and the trades of this market first.
    </ForgetQuestion>
  );
}

function describeOrder({ market, side, size, quote_size, price }: PlaceOrderBody): string {
  const what = size ?? `for at most ${quote_size}`;
  return `${side} ${what} in ${market} ${price === undefined ? "at the market price" : `at ${price}`}`;
}
