import type { Lag, Wallet, WalletEntry } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { SelectField } from "../../ui/forms/text-field";
import { Loaded } from "../../ui/panels/loaded";
import { PagedTable } from "../../ui/tables/paged-table";
import type { Column } from "../../ui/tables/table-head";
import { Amount } from "../../ui/values/amount";
import { ObjectLink } from "../../ui/values/object-link";
import { Time } from "../../ui/values/time";
import { BalanceChart } from "./balance-chart";
import { StatementFile } from "./statement-file";

/** The balances of a wallet over time, and every change of them. */
export function WalletHistory({ wallet: { id, balances } }: { wallet: Wallet }) {
  const first = balances[0]?.asset ?? "";
  const [asset, setAsset] = useState(first);
  // The wallet has got its first money while its page was open. An asset that comes later changes nothing of what is shown.
  if (asset === "" && first !== "") setAsset(first);
  const [period, setPeriod] = useState<"hour" | "day">("hour");
  const history = useQuery({
    queryKey: ["wallet-history", id, asset, period],
    enabled: asset !== "",
    refetchInterval: 15_000,
    queryFn: ({ signal }) => bursar.wallets.history(id, { asset, period }, { signal }),
  });
  if (asset === "") return null;
  return (
    <section className="stack" aria-labelledby="statement">
      <div className="row spread">
        <h2 id="statement">Statement</h2>
        <StatementFile key={`${id} ${asset}`} walletId={id} asset={asset} />
      </div>
      <div className="filters">
        <SelectField label="Asset" value={asset} onValue={setAsset}>
          {balances.map((balance) => (
            <option key={balance.asset}>{balance.asset}</option>
          ))}
        </SelectField>
        <SelectField
          label="Chart by"
          value={period}
          onValue={(value) => setPeriod(value === "day" ? "day" : "hour")}
        >
          <option value="hour">hour</option>
          <option value="day">day</option>
        </SelectField>
      </div>
      <Loaded query={history}>
        {({ data, lag }) => (
          <>
            <LagNote lag={lag} />
            <div className="card">
              <BalanceChart points={data} asset={asset} period={period} />
            </div>
          </>
        )}
      </Loaded>
      <PagedTable
        caption={`Changes of the balance of ${asset}`}
        queryKey={["wallet-entries", id, asset]}
        list={(position, options) => bursar.wallets.entries(id, { ...position, asset }, options)}
        columns={columns}
        keyOf={({ sequence, line }) => `${sequence}.${line}`}
        refetchIntervalMs={15_000}
        empty={<p className="quiet">The balance has never changed.</p>}
      />
    </section>
  );
}

/** Both are made from the log of events, which they may not have read to its end. */
function LagNote({ lag: { events, seconds } }: { lag: Lag }) {
  if (events === 0) return null;
  return (
    <p className="notice" data-tone="wait">
      {events} events of the last {Math.ceil(seconds)} s are not included yet.
    </p>
  );
}

const columns: readonly Column<WalletEntry>[] = [
  {
    title: "Cause",
    cell: ({ cause, cause_id, reference }) => (
      <>
        {cause === "order" && "order "}
        <ObjectLink id={cause_id} reference={reference ?? undefined} />
      </>
    ),
  },
  {
    title: "Amount",
    isNumber: true,
    cell: ({ asset, amount }) => <Amount value={amount} asset={asset} isNamed={false} />,
  },
  {
    title: "Balance",
    isNumber: true,
    cell: ({ asset, balance }) => <Amount value={balance} asset={asset} isNamed={false} />,
  },
  { title: "Time", cell: ({ occurred_at }) => <Time at={occurred_at} /> },
];
