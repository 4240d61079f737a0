import type { CreateTransactionBody, Transaction } from "@bursar/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { bursar } from "../../api/bursar";
import { serviceClock } from "../../api/service-clock";
import { useScopes } from "../../session/use-me";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { findPaidBefore } from "./find-paid-before";

const dayMs = 86_400_000;
/** A payment does not wait longer for a look at those before it. */
const lookMs = 3000;

/** The payments of the last day with a reference, by anybody. `look` reads them once more; undefined if it cannot. */
export function useEarlierPayments(reference: string) {
  const [since] = useState(() => new Date(serviceClock.nowMs() - dayMs).toISOString());
  const isAsked = useScopes().includes("transactions:read") && reference !== "";
  const queries = useQueryClient();
  const queryKey = ["paid-before", reference, since];
  const read = async (signal: AbortSignal) => {
    const query = { reference, created_after: since, limit: 100 };
    return (await bursar.transactions.list(query, { signal }).page()).data;
  };
  const look = async (): Promise<Transaction[] | undefined> => {
    if (!isAsked) return undefined;
    try {
      const data = await read(AbortSignal.timeout(lookMs));
      queries.setQueryData(queryKey, data);
      return data;
    } catch {
      return undefined;
    }
  };
  const query = useQuery({ queryKey, enabled: isAsked, queryFn: ({ signal }) => read(signal) });
  return { ...query, look };
}

interface PaidBeforeProps {
  body: CreateTransactionBody;
  /** The wallet that is paid, if it is one and is known. */
  payeeId: string | undefined;
  earlier: ReturnType<typeof useEarlierPayments>;
}

/** Warns of payments with the same reference, and the same amount or payee: an invoice is seldom paid twice a day. */
export function PaidBefore({ body, payeeId, earlier: { data = [], error } }: PaidBeforeProps) {
  const { reference } = body;
  const { same, other } = findPaidBefore(data, body, payeeId);
  return (
    <>
      {error !== null && (
        <p className="notice" data-tone="wait" role="alert">
          It is not known whether a payment like this was sent within the last day: the payments could not be
          read.
        </p>
      )}
      <Warning earlier={same}>
        {(last) => (
          <>
            with the reference <ForeignText text={reference} /> and{" "}
            <Amount value={last.amount} asset={last.asset} />
          </>
        )}
      </Warning>
      <Warning earlier={other}>
        {(last) => (
          <>
            to the same payee with the reference <ForeignText text={reference} /> and another amount,{" "}
            <Amount value={last.amount} asset={last.asset} />,
          </>
        )}
      </Warning>
    </>
  );
}

interface WarningProps {
  /** The newest first. */
  earlier: readonly Transaction[];
  /** What the newest of them has in common with the payment. */
  children: (last: Transaction) => ReactNode;
}

function Warning({ earlier: [last, ...others], children }: WarningProps) {
  if (last === undefined) return null;
  return (
    <p className="notice" data-tone="bad" role="alert">
      {others.length === 0 ? "A payment" : `${others.length + 1} payments`} {children(last)}{" "}
      {others.length === 0 ? "was" : "were"} sent within the last day, <Time at={last.created_at} />:{" "}
      <code>{last.id}</code> <StateBadge state={last.state} />. This would be another one.
    </p>
  );
}
