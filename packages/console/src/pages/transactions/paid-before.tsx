import type { CreateTransactionBody } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { isSameAmount } from "../../unanswered/same-amount";

const dayMs = 86_400_000;
const paidNothing: readonly string[] = ["rejected", "failed", "cancelled"];

/** Warns of payments of the last day with the same reference and amount, by anybody: an invoice is seldom paid twice a day. */
export function PaidBefore({ body: { reference, asset, amount } }: { body: CreateTransactionBody }) {
  const [since] = useState(() => new Date(Date.now() - dayMs).toISOString());
  const { data = [] } = useQuery({
    queryKey: ["paid-before", reference, asset, since],
    enabled: useScopes().includes("transactions:read") && reference !== "",
    queryFn: async ({ signal }) => {
      const query = { reference, asset, created_after: since, limit: 100 };
      return (await bursar.transactions.list(query, { signal }).page()).data;
    },
  });
  const earlier = data.filter(
    (one) => !paidNothing.includes(one.state) && one.kind !== "deposit" && isSameAmount(one.amount, amount),
  );
  const [last] = earlier;
  if (last === undefined) return null;
  return (
    <p className="notice" data-tone="bad" role="alert">
      {earlier.length === 1 ? "A payment" : `${earlier.length} payments`} with the reference{" "}
      <ForeignText text={reference} /> and <Amount value={last.amount} asset={asset} />{" "}
      {earlier.length === 1 ? "was" : "were"} sent within the last day, <Time at={last.created_at} />:{" "}
      <code>{last.id}</code> <StateBadge state={last.state} />. This would be another one.
    </p>
  );
}
