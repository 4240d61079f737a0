import type { Wallet } from "@bursar/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useNamedWallet } from "../../api/wallet-names";
import { useScopes } from "../../session/use-me";
import { Empty } from "../../ui/panels/empty";
import { PageHead } from "../../ui/panels/page-head";
import { PagedTable } from "../../ui/tables/paged-table";
import type { Column } from "../../ui/tables/table-head";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { ShortId } from "../../ui/values/short-id";
import { StateBadge } from "../../ui/values/state-badge";
import { NewWallet } from "./new-wallet";

export function WalletsPage() {
  const mayCreate = useScopes().includes("wallets:write");
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <PageHead title="Wallets">
        {mayCreate && (
          <button type="button" className="button" data-tone="primary" onClick={() => setCreating(true)}>
            New wallet
          </button>
        )}
      </PageHead>
      <PagedTable
        caption="Wallets"
        queryKey={["wallets"]}
        list={bursar.wallets.list}
        columns={columns}
        keyOf={({ id }) => id}
        refetchIntervalMs={10_000}
        empty={<Empty title="No wallets">Create one here, or with POST /v1/wallets.</Empty>}
      />
      {isCreating && <NewWallet onClose={() => setCreating(false)} />}
    </>
  );
}

/** The money is beside the name, where a narrow screen shows it. */
const columns: readonly Column<Wallet>[] = [
  {
    title: "Name",
    cell: ({ id, name }) => (
      <>
        <Link to="/wallets/$id" params={{ id }}>
          <ForeignText text={name} limit={60} />
        </Link>
        <IdIfUnclear id={id} />
      </>
    ),
  },
  {
    title: "Available",
    isNumber: true,
    cell: ({ balances }) => (
      <Balances of={balances.map(({ asset, available }) => ({ asset, value: available }))} />
    ),
  },
  { title: "State", cell: ({ state, frozen }) => <StateBadge state={frozen ? "frozen" : state} /> },
  {
    title: "Held",
    isNumber: true,
    cell: ({ balances }) => (
      <Balances
        of={balances.filter(({ held }) => held !== "0").map(({ asset, held }) => ({ asset, value: held }))}
      />
    ),
  },
  { title: "Purpose", cell: ({ purpose, role }) => (role === null ? purpose : `${purpose} (${role})`) },
  { title: "Network", cell: ({ network }) => network },
];

/** Wallets can have one name. */
function IdIfUnclear({ id }: { id: string }) {
  return useNamedWallet(id)?.needsId === true && <ShortId id={id} />;
}

function Balances({ of }: { of: readonly { asset: string; value: string }[] }) {
  if (of.length === 0) return <span className="quiet">none</span>;
  return of.map(({ asset, value }, index) => (
    <span key={asset}>
      {index > 0 && ", "}
      <Amount value={value} asset={asset} />
    </span>
  ));
}
