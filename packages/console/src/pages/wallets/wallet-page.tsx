import type { Balance, Wallet } from "@bursar/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { Confirm } from "../../ui/dialogs/confirm";
import { ActionButton } from "../../ui/forms/action-button";
import { Curl } from "../../ui/panels/curl";
import { Fact, Facts } from "../../ui/panels/facts";
import { Loaded } from "../../ui/panels/loaded";
import { PageHead } from "../../ui/panels/page-head";
import { RawJson } from "../../ui/panels/raw-json";
import { SimpleTable } from "../../ui/tables/simple-table";
import type { Column } from "../../ui/tables/virtual-table";
import { Address } from "../../ui/values/address";
import { Amount } from "../../ui/values/amount";
import { ClientId } from "../../ui/values/client-id";
import { CopyButton } from "../../ui/values/copy-button";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { QrPicture } from "./qr-picture";
import { WalletHistory } from "./wallet-history";

export function WalletPage() {
  const { id } = useParams({ from: "/wallets/$id" });
  const wallet = useQuery({
    queryKey: ["wallet", id],
    queryFn: ({ signal }) => bursar.wallets.get(id, { signal }),
    refetchInterval: 10_000,
  });
  return (
    <>
      <PageHead title="Wallet">{wallet.data !== undefined && <FreezeButton wallet={wallet.data} />}</PageHead>
      <Loaded query={wallet}>{(found) => <Details wallet={found} />}</Loaded>
    </>
  );
}

function FreezeButton({ wallet: { id, frozen } }: { wallet: Wallet }) {
  const queries = useQueryClient();
  const scopes = useScopes();
  const [isAsking, setAsking] = useState(false);
  const act = useMutation({
    mutationFn: () => (frozen ? bursar.wallets.unfreeze(id) : bursar.wallets.freeze(id)),
    onSuccess: () => setAsking(false),
    onSettled: () => queries.invalidateQueries({ queryKey: ["wallet", id] }),
  });
  if (!scopes.includes(frozen ? "wallets:unfreeze" : "wallets:freeze")) return null;
  const verb = frozen ? "Unfreeze" : "Freeze";
  return (
    <>
      <button
        type="button"
        className="button"
        data-tone={frozen ? undefined : "danger"}
        onClick={() => setAsking(true)}
      >
        {verb}
      </button>
      {isAsking && (
        <Confirm
          title={`${verb} this wallet?`}
          error={act.error}
          onClose={() => setAsking(false)}
          action={
            <ActionButton
              tone={frozen ? "primary" : "danger"}
              isPending={act.isPending}
              onAct={() => act.mutate()}
            >
              {verb}
            </ActionButton>
          }
        >
          <p>
            {frozen
              ? "Payments from it are processed again. Orders that were cancelled stay cancelled."
              : "Nothing leaves it any more: payments from it fail, and its open orders are cancelled."}
          </p>
        </Confirm>
      )}
    </>
  );
}

function Details({ wallet }: { wallet: Wallet }) {
  const { id, name, purpose, role, network, state, frozen, address, sending, created_by, created_at } =
    wallet;
  return (
    <div className="stack">
      <div className="card">
        <Facts>
          <Fact name="Name">
            <ForeignText text={name} />
          </Fact>
          <Fact name="Id">
            <span className="row">
              <code>{id}</code> <CopyButton text={id} label="Copy the id" />
            </span>
          </Fact>
          <Fact name="State">
            <StateBadge state={frozen ? "frozen" : state} />
          </Fact>
          <Fact name="Purpose">{role === null ? purpose : `${purpose} (${role})`}</Fact>
          <Fact name="Network">{network}</Fact>
          <Fact name="Address">
            {address !== null && (
              <span className="stack">
                <span className="row">
                  <Address address={address} /> <CopyButton text={address} label="Copy the address" />
                </span>
                <QrPicture text={address} label={`QR code of ${address}`} />
              </span>
            )}
          </Fact>
          <Fact name="Halted">
            {sending?.halted_reason != null && <ForeignText text={sending.halted_reason} />}
          </Fact>
          <Fact name="In flight">
            {sending !== null && `${sending.in_flight} payments, next nonce ${sending.next_nonce}`}
          </Fact>
          <Fact name="Created by">
            <ClientId id={created_by} />
          </Fact>
          <Fact name="Created">
            <Time at={created_at} long />
          </Fact>
        </Facts>
      </div>
      <section className="stack" aria-labelledby="balances">
        <h2 id="balances">Balances</h2>
        <BalanceTable wallet={wallet} />
        <p>
          <Link to="/transactions" search={{ wallet: id }}>
            Transactions of this wallet
          </Link>
        </p>
      </section>
      <WalletHistory wallet={wallet} />
      <RawJson value={wallet} />
      <Curl method="GET" path={`/v1/wallets/${id}`} />
    </div>
  );
}

function BalanceTable({ wallet: { balances } }: { wallet: Wallet }) {
  if (balances.length === 0) return <p className="quiet">This wallet has never held anything.</p>;
  return (
    <SimpleTable caption="Balances" rows={balances} keyOf={({ asset }) => asset} columns={balanceColumns} />
  );
}

const balanceColumns: readonly Column<Balance>[] = [
  { title: "Asset", cell: ({ asset }) => asset },
  { title: "Available", isNumber: true, cell: ({ available }) => <Amount value={available} /> },
  { title: "Held", isNumber: true, cell: ({ held }) => <Amount value={held} /> },
  {
    title: "Incoming",
    isNumber: true,
    cell: ({ incoming }) => (incoming === null ? "-" : <Amount value={incoming} />),
  },
  {
    title: "On chain",
    isNumber: true,
    cell: ({ on_chain }) =>
      on_chain === null ? (
        "-"
      ) : (
        <>
          <Amount value={on_chain.amount} />{" "}
          <span className="quiet small">block {on_chain.block_number}</span>
        </>
      ),
  },
];
