import type { Transaction } from "@bursar/client";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { readClientNames } from "../../api/client-names";
import { useListedAddresses } from "../../api/listed-addresses";
import { useWalletNames } from "../../api/wallet-names";
import { LiveControls } from "../../live/live-controls";
import { LiveList, loadEveryMs } from "../../live/live-list";
import { NotLive, useMayFollow } from "../../live/not-live";
import { useLiveList } from "../../live/use-live-list";
import { useScopes } from "../../session/use-me";
import { Empty } from "../../ui/panels/empty";
import { PageHead } from "../../ui/panels/page-head";
import { Problem } from "../../ui/panels/problem";
import { CsvFile } from "../../ui/tables/csv-file";
import type { Column } from "../../ui/tables/table-head";
import { VirtualTable } from "../../ui/tables/virtual-table";
import { useAmountText } from "../../ui/values/asset-decimals";
import { Party } from "../../ui/values/party";
import { transactionColumns } from "./columns";
import { transactionsCsv } from "./csv";
import { FilterBar } from "./filter-bar";
import { readFilters, type TransactionFilters, timeFaults } from "./filters";
import { listTransactions, liveSource } from "./live-source";
import { transactionRows } from "./transaction-rows";

export function TransactionsPage() {
  const filters = useSearch({
    from: "/transactions",
    select: (search) => readFilters({ ...search }),
    structuralSharing: true,
  });
  const navigate = useNavigate();
  const scopes = useScopes();
  const names = useWalletNames();
  const { listed: addresses } = useListedAddresses();
  const amountText = useAmountText();
  const key = JSON.stringify(filters);
  const mayFollow = useMayFollow();
  const isReadable = Object.keys(timeFaults(filters)).length === 0;
  const list = useMemo(() => {
    const read = JSON.parse(key) as TransactionFilters;
    return new LiveList(liveSource(read, mayFollow), transactionRows(read));
  }, [key, mayFollow]);
  const { rows, connection, isCut, problem } = useLiveList(list);
  const change = (next: TransactionFilters) =>
    void navigate({ to: "/transactions", search: next, replace: true });
  return (
    <>
      <PageHead title="Transactions">
        {isReadable && (
          <>
            <LiveControls list={list} />
            <CsvFile
              name="transactions"
              rows="transactions"
              others="Filter them, or read the older ones with GET /v1/transactions."
              of={key}
              pagesOf={(signal) => listTransactions(filters, signal)}
              toCsv={async (listed) => {
                const clients = await readClientNames(listed.map(({ created_by }) => created_by));
                const labels = new Map(addresses?.map((one) => [`${one.network} ${one.address}`, one.label]));
                return transactionsCsv(listed, { wallets: names ?? new Map(), labels, clients, amountText });
              }}
            />
          </>
        )}
        {scopes.includes("transactions:write") && (
          <Link to="/transactions/new" className="button" data-tone="primary">
            New payment
          </Link>
        )}
      </PageHead>
      <FilterBar filters={filters} onChange={change} />
      {isReadable && <NotLive everyMs={loadEveryMs} />}
      {problem !== undefined && <Problem error={problem} />}
      {!isReadable ? (
        <Empty title="No transactions">Correct the time that cannot be read, or remove it.</Empty>
      ) : rows.length === 0 && (connection === "live" || connection === "not live") ? (
        <Empty title="No transactions">
          {Object.keys(filters).length > 0
            ? "No transaction matches these filters. Remove one to see more."
            : "Payments and deposits appear here as they happen. Create one, or run bursar tx create."}
        </Empty>
      ) : (
        <VirtualTable
          caption="Transactions, newest first"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
        />
      )}
      {isCut && (
        <p className="quiet small">
          Only the newest {rows.length} are shown. Filter to find older ones, or download them.
        </p>
      )}
    </>
  );
}

const columns: readonly Column<Transaction>[] = [
  ...transactionColumns,
  { title: "From", cell: ({ source }) => <Party party={source} isShort /> },
  {
    title: "To",
    cell: ({ destination, network }) => <Party party={destination} network={network} isShort />,
  },
  { title: "Kind", cell: ({ kind }) => kind },
];
