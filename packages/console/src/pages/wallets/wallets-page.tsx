import type { Wallet } from "@bursar/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { Amount } from "../../ui/amount";
import { Empty } from "../../ui/empty";
import { ForeignText } from "../../ui/foreign-text";
import { PageHead } from "../../ui/page-head";
import { Problem } from "../../ui/problem";
import { StateBadge } from "../../ui/state-badge";
import { type Column, VirtualTable } from "../../ui/virtual-table";

export function WalletsPage() {
  const wallets = useInfiniteQuery({
    queryKey: ["wallets"],
    queryFn: ({ pageParam, signal }) =>
      bursar.wallets
        .list({ limit: 100, ...(pageParam === undefined ? {} : { cursor: pageParam }) }, { signal })
        .page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const rows = wallets.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <PageHead title="Wallets" />
      {wallets.error !== null && <Problem error={wallets.error} retry={() => void wallets.refetch()} />}
      {wallets.isPending && <p className="quiet">Loading</p>}
      {wallets.data !== undefined && rows.length === 0 && (
        <Empty title="No wallets">Create one with POST /v1/wallets or bursar wallet create.</Empty>
      )}
      {rows.length > 0 && (
        <VirtualTable caption="Wallets" columns={columns} rows={rows} keyOf={({ id }) => id} />
      )}
      {wallets.hasNextPage && (
        <div className="row">
          <button
            type="button"
            className="button"
            disabled={wallets.isFetchingNextPage}
            onClick={() => void wallets.fetchNextPage()}
          >
            Load more
          </button>
        </div>
      )}
    </>
  );
}

const columns: readonly Column<Wallet>[] = [
  {
    title: "Name",
    cell: ({ id, name }) => (
      <Link to="/wallets/$id" params={{ id }}>
        <ForeignText text={name} limit={60} />
      </Link>
    ),
  },
  { title: "State", cell: ({ state, frozen }) => <StateBadge state={frozen ? "frozen" : state} /> },
  { title: "Purpose", cell: ({ purpose, role }) => (role === null ? purpose : `${purpose} (${role})`) },
  { title: "Network", cell: ({ network }) => network },
  {
    title: "Available",
    isNumber: true,
    cell: ({ balances }) => (
      <Balances of={balances.map(({ asset, available }) => ({ asset, value: available }))} />
    ),
  },
  {
    title: "Held",
    isNumber: true,
    cell: ({ balances }) => (
      <Balances
        of={balances.filter(({ held }) => held !== "0").map(({ asset, held }) => ({ asset, value: held }))}
      />
    ),
  },
];

function Balances({ of }: { of: readonly { asset: string; value: string }[] }) {
  if (of.length === 0) return <span className="quiet">none</span>;
  return of.map(({ asset, value }, index) => (
    <span key={asset}>
      {index > 0 && ", "}
      <Amount value={value} asset={asset} />
    </span>
  ));
}
