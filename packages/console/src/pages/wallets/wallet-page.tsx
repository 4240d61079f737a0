import type { Balance, Wallet } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { Curl } from "../../ui/panels/curl";
import { ClientFact, Fact, FactsCard, IdFact, StateFact, TextFact, TimeFact } from "../../ui/panels/facts";
import { ObjectPage } from "../../ui/panels/object-page";
import { RawJson } from "../../ui/panels/raw-json";
import { SimpleTable } from "../../ui/tables/simple-table";
import type { Column } from "../../ui/tables/table-head";
import { Address } from "../../ui/values/address";
import { Amount } from "../../ui/values/amount";
import { CopyButton } from "../../ui/values/copy-button";
import { FreezeButton } from "./freeze-button";
import { QrPicture } from "./qr-picture";
import { WalletHistory } from "./wallet-history";

export function WalletPage() {
  const { id } = useParams({ from: "/wallets/$id" });
  return (
    <ObjectPage
      title="Wallet"
      queryKey={["wallet", id]}
      read={(options) => bursar.wallets.get(id, options)}
      refreshMs={10_000}
      actions={(wallet) => <FreezeButton key={wallet.id} wallet={wallet} />}
    >
      {(wallet) => <Details wallet={wallet} />}
    </ObjectPage>
  );
}

const eventsMax = 50;

/** Who has frozen it and when, from the event log: the first of the last events in a row that show it frozen. */
function FrozenBy({ wallet: { id, updated_at } }: { wallet: Wallet }) {
  const mayRead = useScopes().includes("events:read");
  const { data: events } = useQuery({
    queryKey: ["wallet", id, "frozen-by", updated_at],
    enabled: mayRead,
    queryFn: ({ signal }) =>
      bursar.events.list({ subject_id: id, order: "desc", limit: eventsMax }, { signal }).page(),
  });
  const frozen = events?.data.flatMap((one) => (one.event === "wallet.updated" ? [one] : [])) ?? [];
  const thawedAt = frozen.findIndex(({ data }) => !data.wallet.frozen);
  const first = (thawedAt === -1 ? (events?.has_more === true ? [] : frozen) : frozen.slice(0, thawedAt)).at(
    -1,
  );
  if (first === undefined) return null;
  return (
    <>
      <ClientFact name="Frozen by" id={first.actor.client_id} />
      <TimeFact name="Frozen since" at={first.occurred_at} />
    </>
  );
}

/** The id that local chains have by convention. */
const developmentNetwork = "eip155:31337";

/** What `Halted` does not say. */
const waitingTexts = {
  wallet_halted: undefined,
  network_halted: "The network is halted.",
  network_unreachable: "No node of the network answers.",
  network_waiting: "No process follows the network at the moment.",
  fees_above_cap: "The base fee of the network is above the cap for payments.",
  unconfirmed:
    "The wallet is compared with its chain and the signer first, because the database may have been restored.",
} as const;

/** A wallet has the reason, and its network the time. */
function SilentSince({ network }: { network: string }) {
  const networks = useQuery({
    queryKey: ["networks"],
    queryFn: ({ signal }) => bursar.networks.list({ signal }),
  });
  const found = networks.data?.data.find(({ id }) => id === network);
  return <TimeFact name="No answer since" at={found?.unreachable_since ?? null} />;
}

function Details({ wallet }: { wallet: Wallet }) {
  const { id, name, purpose, role, network, state, frozen, address, sending, created_by, created_at } =
    wallet;
  return (
    <div className="stack">
      <FactsCard>
        <TextFact name="Name" text={name} />
        <IdFact id={id} />
        <StateFact state={frozen ? "frozen" : state} />
        <TextFact name="Frozen because" text={wallet.frozen_reason} />
        {frozen && <FrozenBy wallet={wallet} />}
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
        <TextFact name="Halted" text={sending?.halted_reason} />
        <TextFact name="Payments wait" text={sending?.blocked_by && waitingTexts[sending.blocked_by]} />
        {sending?.blocked_by === "network_unreachable" && <SilentSince network={network} />}
        <Fact name="In flight">
          {sending !== null && `${sending.in_flight} payments, next nonce ${sending.next_nonce}`}
        </Fact>
        <ClientFact name="Created by" id={created_by} />
        <TimeFact name="Created" at={created_at} />
      </FactsCard>
      <section className="stack" aria-labelledby="balances">
        <h2 id="balances">Balances</h2>
        <BalanceTable wallet={wallet} />
        {network === developmentNetwork && (
          <p className="notice">
            This wallet is on a development chain, whose coins have no value. In the sandbox, this command
            sends some to it: <code>./bursar fund {id} ETH.DEV 2</code>
          </p>
        )}
        <p>
          <Link to="/transactions" search={{ wallet: id }}>
            Transactions of this wallet
          </Link>
        </p>
      </section>
      <WalletHistory key={id} wallet={wallet} />
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
  {
    title: "Available",
    isNumber: true,
    cell: ({ asset, available }) => <Amount value={available} asset={asset} isNamed={false} />,
  },
  {
    title: "Held",
    isNumber: true,
    cell: ({ asset, held }) => <Amount value={held} asset={asset} isNamed={false} />,
  },
  {
    title: "Incoming",
    isNumber: true,
    cell: ({ asset, incoming }) =>
      incoming === null ? "-" : <Amount value={incoming} asset={asset} isNamed={false} />,
  },
  {
    title: "On chain",
    isNumber: true,
    cell: ({ asset, on_chain }) =>
      on_chain === null ? (
        "-"
      ) : (
        <>
          <Amount value={on_chain.amount} asset={asset} isNamed={false} />{" "}
          <span className="quiet small">block {on_chain.block_number}</span>
        </>
      ),
  },
];
