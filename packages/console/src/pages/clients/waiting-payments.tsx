import type { Transaction } from "@bursar/client";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { readRows } from "../../ui/tables/read-rows";
import { useAmountText } from "../../ui/values/asset-decimals";
import { sumByAsset } from "./sum-by-asset";

const paymentsMax = 1000;

type Waiting = UseQueryResult<{ rows: Transaction[]; isCut: boolean }>;

/** The payments of a client that are not processed yet, for those who may read them. */
export function useWaitingPayments(clientId: string): Waiting {
  return useQuery({
    queryKey: ["transactions", "waiting-of-client", clientId],
    enabled: useScopes().includes("transactions:read"),
    // Each dialog reads them again.
    gcTime: 0,
    queryFn: ({ signal }) => {
      const filters = { client_id: clientId, state: Object.keys(words) as State[], limit: 200 };
      const pages = bursar.transactions.list(filters, { signal }).pages();
      return readRows(pages, paymentsMax, () => undefined);
    },
  });
}

/** Said before a client is enabled. */
export function WaitingPayments({ clientId, query }: { clientId: string; query: Waiting }) {
  const { data, isError, isLoading } = query;
  if (isLoading) return null;
  if (data === undefined)
    return (
      <p className={isError ? "notice" : undefined} data-tone="wait">
        {isError ? "What waits could not be read." : "Your role does not show what waits."}
      </p>
    );
  const { rows, isCut } = data;
  if (rows.length === 0) return <p>Nothing waits.</p>;
  return (
    <div className="notice" data-tone="wait">
      {isCut && <p>These are the newest {rows.length} that wait; there are more.</p>}
      <ul>
        <Group of={rows} state="accepted" clientId={clientId} />
        <Group of={rows} state="awaiting_approval" clientId={clientId} />
      </ul>
    </div>
  );
}

type State = keyof typeof words;

const words = {
  accepted: "accepted",
  awaiting_approval: "awaiting approval; those with enough approvals are processed",
} as const;

function Group({ of, state, clientId }: { of: readonly Transaction[]; state: State; clientId: string }) {
  const amountText = useAmountText();
  const rows = of.filter((row) => row.state === state);
  if (rows.length === 0) return null;
  const sums = sumByAsset(rows).map(({ asset, amount }) => `${amountText(amount, asset)} ${asset}`);
  return (
    <li>
      <Link to="/transactions" search={{ client: clientId, state }}>
        {rows.length === 1 ? "1 payment" : `${rows.length} payments`}
      </Link>{" "}
      of {sums.join(" and ")}, {words[state]}
    </li>
  );
}
