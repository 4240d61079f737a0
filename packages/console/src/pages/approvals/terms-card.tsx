import type { Transaction } from "@bursar/client";
import type { ReactNode, Ref } from "react";
import { Fact, Facts } from "../../ui/panels/facts";
import { Address } from "../../ui/values/address";
import { Amount } from "../../ui/values/amount";
import { ClientName } from "../../ui/values/client-id";
import { ForeignText } from "../../ui/values/foreign-text";
import { Time } from "../../ui/values/time";
import { AddressNotes } from "./address-notes";
import { type TermName, withoutValue } from "./shown-terms";
import type { ShownListing } from "./use-listing";

interface TermsCardProps {
  ref: Ref<HTMLDivElement>;
  transaction: Transaction;
  tenant: { id: string; name: string };
  decimals: number;
  listed: ShownListing["now"];
}

/** What the approval covers. Names, labels and local times stand beside the terms, which are what is digested. */
export function TermsCard({ ref, transaction, tenant, decimals, listed }: TermsCardProps) {
  const { id, kind, amount, asset, network, source, destination, expires_at, created_by, approval } =
    transaction;
  const nameOf = (party: Transaction["source"]) =>
    party !== null && "wallet_id" in party
      ? approval?.wallets.find((wallet) => wallet.id === party.wallet_id)?.name
      : undefined;
  return (
    <div className="card stack" ref={ref}>
      <p className="figure">
        <Term name="amount">
          <Amount value={amount} asset={asset} isNamed={false} />
        </Term>{" "}
        <Term name="asset">{asset}</Term>
      </p>
      <Facts>
        <Fact name="To">
          <PartyTerm name="destination" party={destination} walletName={nameOf(destination)} />
          {"address" in destination && (
            <AddressNotes address={destination.address} network={network} listed={listed} />
          )}
        </Fact>
        <Fact name="From">
          <PartyTerm name="source" party={source} walletName={nameOf(source)} />
        </Fact>
        <Fact name="Network">
          <Term name="network">{network}</Term>
        </Fact>
        <Fact name="Kind">
          <Term name="kind">{kind}</Term>
        </Fact>
        <Fact name="Decimals">
          <Term name="decimals">{decimals}</Term>
        </Fact>
        <Fact name="Requested by">
          <Term name="created_by">{created_by ?? withoutValue.created_by}</Term>{" "}
          <span className="quiet small">
            <ClientName id={created_by} />
          </span>
        </Fact>
        <Fact name="Expires">
          <Term name="expires_at">{expires_at ?? withoutValue.expires_at}</Term>{" "}
          {expires_at !== null && (
            <span className="quiet small">
              <Time at={expires_at} />
            </span>
          )}
        </Fact>
        <Fact name="Payment">
          <Term name="id">{id}</Term>
        </Fact>
        <Fact name="Tenant">
          <Term name="tenant">{tenant.id}</Term>{" "}
          <span className="quiet small">
            <ForeignText text={tenant.name} limit={60} />
          </span>
        </Fact>
      </Facts>
    </div>
  );
}

function Term({ name, children }: { name: TermName; children: ReactNode }) {
  return <span data-term={name}>{children}</span>;
}

function PartyTerm({
  name,
  party,
  walletName,
}: {
  name: "source" | "destination";
  party: Transaction["source"];
  walletName: string | undefined;
}) {
  if (party === null) return <Term name={name}>unknown</Term>;
  if ("address" in party)
    return (
      <Term name={name}>
        <Address address={party.address} />
      </Term>
    );
  return (
    <>
      <Term name={name}>{party.wallet_id}</Term>{" "}
      <span className="quiet small">
        {walletName === undefined ? (
          "a wallet without a name here"
        ) : (
          <ForeignText text={walletName} limit={60} />
        )}
      </span>
    </>
  );
}
