import type { Wallet } from "@bursar/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { Amount } from "../../ui/amount";
import { ClientId } from "../../ui/client-id";
import { CopyButton } from "../../ui/copy-button";
import { Curl } from "../../ui/curl";
import { Fact, Facts } from "../../ui/facts";
import { ForeignText } from "../../ui/foreign-text";
import { Loaded } from "../../ui/loaded";
import { PageHead } from "../../ui/page-head";
import { Problem } from "../../ui/problem";
import { RawJson } from "../../ui/raw-json";
import { Scroller } from "../../ui/scroller";
import { StateBadge } from "../../ui/state-badge";
import { Time } from "../../ui/time";

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
  const act = useMutation({
    mutationFn: () => (frozen ? bursar.wallets.unfreeze(id) : bursar.wallets.freeze(id)),
    onSettled: () => queries.invalidateQueries({ queryKey: ["wallet", id] }),
  });
  return (
    <>
      {act.error !== null && <Problem error={act.error} />}
      {scopes.includes(frozen ? "wallets:unfreeze" : "wallets:freeze") && (
        <button
          type="button"
          className="button"
          data-tone={frozen ? undefined : "danger"}
          disabled={act.isPending}
          onClick={() => act.mutate()}
        >
          {frozen ? "Unfreeze" : "Freeze"}
        </button>
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
              <span className="row">
                <code>{address}</code> <CopyButton text={address} label="Copy the address" />
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
      <RawJson value={wallet} />
      <Curl method="GET" path={`/v1/wallets/${id}`} />
    </div>
  );
}

function BalanceTable({ wallet: { balances } }: { wallet: Wallet }) {
  if (balances.length === 0) return <p className="quiet">This wallet has never held anything.</p>;
  return (
    <Scroller label="Table of balances">
      <table>
        <thead>
          <tr>
            <th scope="col">Asset</th>
            <th scope="col" className="number">
              Available
            </th>
            <th scope="col" className="number">
              Held
            </th>
            <th scope="col" className="number">
              Incoming
            </th>
            <th scope="col" className="number">
              On chain
            </th>
          </tr>
        </thead>
        <tbody>
          {balances.map(({ asset, available, held, incoming, on_chain }) => (
            <tr key={asset}>
              <th scope="row">{asset}</th>
              <td className="number">
                <Amount value={available} />
              </td>
              <td className="number">
                <Amount value={held} />
              </td>
              <td className="number">{incoming === null ? "-" : <Amount value={incoming} />}</td>
              <td className="number">
                {on_chain === null ? (
                  "-"
                ) : (
                  <>
                    <Amount value={on_chain.amount} />{" "}
                    <span className="quiet small">block {on_chain.block_number}</span>
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}
