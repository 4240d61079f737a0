import type { Transaction } from "@bursar/client";
import { useRef } from "react";
import { useDraft } from "../../ui/forms/use-draft";
import { useFocusAfter } from "../../ui/forms/use-focus-after";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { Time } from "../../ui/values/time";

type Accepted = Pick<Transaction, "id" | "reference" | "amount" | "asset" | "created_at">;

const keptMax = 20;

/**
 * The payments of a person who may not read any. The answer is all that they ever learn of a payment, so it stays in this tab until they
 * dismiss it or log out, also if they have gone to another page before it came.
 */
export function useAcceptedPayments() {
  const { value, read, change } = useDraft<{ accepted: Accepted[] }>("accepted-payments", () => ({
    accepted: [],
  }));
  return {
    accepted: value.accepted,
    keep: ({ id, reference, amount, asset, created_at }: Accepted) => {
      // What was asked for twice has one answer.
      const others = read().accepted.filter((one) => one.id !== id);
      change({ accepted: [{ id, reference, amount, asset, created_at }, ...others].slice(0, keptMax) });
    },
    dismiss: (id: string) => change({ accepted: read().accepted.filter((one) => one.id !== id) }),
  };
}

interface AcceptedPaymentsProps {
  accepted: readonly Accepted[];
  onDismiss: (id: string) => void;
}

export function AcceptedPayments({ accepted, onDismiss }: AcceptedPaymentsProps) {
  return accepted.map((one) => (
    <AcceptedPayment key={one.id} payment={one} onDismiss={() => onDismiss(one.id)} />
  ));
}

function AcceptedPayment({ payment, onDismiss }: { payment: Accepted; onDismiss: () => void }) {
  const { id, reference, amount, asset, created_at } = payment;
  const notice = useRef<HTMLDivElement>(null);
  useFocusAfter(notice);
  return (
    <div ref={notice} className="notice row spread" role="status">
      <p>
        Payment <code className="wrap-anywhere">{id}</code> was accepted <Time at={created_at} />:{" "}
        <ForeignText text={reference} /> of <Amount value={amount} asset={asset} />.
      </p>
      <button type="button" className="button small" aria-label={`Dismiss payment ${id}`} onClick={onDismiss}>
        Dismiss
      </button>
    </div>
  );
}
