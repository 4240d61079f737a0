import type { Transaction } from "@bursar/client";
import { Link, useParams } from "@tanstack/react-router";
import { useRef } from "react";
import { bursar } from "../../api/bursar";
import { useAssets } from "../../api/catalog";
import { useWallet } from "../../api/wallet-names";
import { useMe, useScopes } from "../../session/use-me";
import { Decisions } from "../../ui/panels/decisions";
import { Fact, FactsCard, FailureFact, MetadataFacts, StateFact, TextFact } from "../../ui/panels/facts";
import { ObjectPage } from "../../ui/panels/object-page";
import { Problem } from "../../ui/panels/problem";
import { ClientId } from "../../ui/values/client-id";
import { Countdown } from "../../ui/values/countdown";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { faultsOf, isJustDecided, progressWords } from "./approval-progress";
import { approvalWords } from "./approval-words";
import { DecidePayment } from "./decide-payment";
import { digestOfShown } from "./shown-terms";
import { TallyNotes } from "./tally-notes";
import { TermsCard } from "./terms-card";
import { useApprovalTally } from "./use-approval-tally";
import { useListing } from "./use-listing";

const pendingMs = 5000;
/** The service goes on at once when enough have approved, unless something is wrong with it. */
const decidedMs = 500;

export function ApprovalPage() {
  const { id } = useParams({ from: "/approvals/$id" });
  return (
    <ObjectPage
      title="Approval"
      queryKey={["transaction", id]}
      read={(options) => bursar.transactions.get(id, options)}
      refreshMs={(transaction) => (isJustDecided(transaction) ? decidedMs : pendingMs)}
      actions={() => (
        <Link to="/transactions/$id" params={{ id }} className="button">
          Open the transaction
        </Link>
      )}
    >
      {(transaction) => <Details key={transaction.id} transaction={transaction} asked={id} />}
    </ObjectPage>
  );
}

function Details({ transaction, asked }: { transaction: Transaction; asked: string }) {
  const me = useMe().data;
  const shown = useRef<HTMLDivElement>(null);
  const decision = useRef<HTMLDivElement>(null);
  const assets = useAssets();
  const tally = useApprovalTally(transaction, pendingMs);
  const decimals = assets.data?.data.find(({ code }) => code === transaction.asset)?.decimals;
  const { approval, reference } = transaction;
  const listing = useListing(transaction, approval?.state === "pending" && pendingMs);
  if (approval === null) return <p>This transaction needs no approval.</p>;
  if (me === undefined || decimals === undefined)
    return assets.error === null ? (
      <p className="quiet">Loading</p>
    ) : (
      <Problem error={assets.error} retry={() => void assets.refetch()} />
    );
  return (
    <div className="stack">
      <section className="stack" aria-labelledby="covered">
        <h2 id="covered">What the approval covers</h2>
        <TermsCard
          ref={shown}
          transaction={transaction}
          tenant={me.tenant}
          decimals={decimals}
          listed={listing.now}
        />
      </section>
      <section className="stack" aria-labelledby="context">
        <h2 id="context">About this payment</h2>
        <p className="quiet small">
          Your passkey signs what is listed above: this one payment, by its id. What follows describes it, and
          is not signed itself.
        </p>
        <FactsCard>
          <TextFact name="Reference" text={reference} />
          <Fact name="Rule">
            <code>{approval.rule}</code>, policy version {transaction.policy_version}
          </Fact>
          <StateFact state={approvalWords(approval.state)}>{progressWords(transaction, tally)}</StateFact>
          {transaction.state !== "awaiting_approval" && (
            <Fact name="Payment">
              <StateBadge state={transaction.state} />
            </Fact>
          )}
          <FailureFact failure={transaction.failure} />
          <Fact name="To be decided within">
            {approval.state === "pending" && <Countdown until={approval.expires_at} />}
          </Fact>
          <MetadataFacts metadata={transaction.metadata} />
        </FactsCard>
      </section>
      {tally !== undefined && <TallyNotes tally={tally} />}
      {approval.state === "pending" && <FrozenPayer transaction={transaction} />}
      <Decisions decisions={approval.decisions} me={me.client.id} faults={faultsOf(tally)} />
      {approval.state !== "pending" && approval.decisions.length > 0 && (
        <p className="quiet small">
          What is recorded need not have counted: the service does not record which approvals it counted.
        </p>
      )}
      <div ref={decision} tabIndex={-1}>
        {approval.state !== "pending" && <Ended transaction={transaction} />}
        {approval.state === "pending" && (
          <DecidePayment
            key={transaction.id}
            transaction={transaction}
            expected={approval.digest}
            isAsked={transaction.id === asked}
            listing={listing}
            computeDigest={async () => {
              if (shown.current === null) throw new Error("The page does not show the payment.");
              return await digestOfShown(shown.current);
            }}
            onDecided={() => {
              // The button that was pressed is disabled or gone, and the keyboard would begin at the top of the page.
              if (document.activeElement === document.body) decision.current?.focus();
            }}
          />
        )}
      </div>
    </div>
  );
}

/** For those who may read the wallet. It can be unfrozen before the last of them approves. */
function FrozenPayer({ transaction: { source } }: { transaction: Transaction }) {
  const mayRead = useScopes().includes("wallets:read");
  const id = source !== null && "wallet_id" in source ? source.wallet_id : undefined;
  const wallet = useWallet(mayRead ? id : undefined);
  if (wallet?.frozen !== true) return null;
  return (
    <p className="notice" data-tone="bad" role="alert">
      The wallet that pays, <ForeignText text={wallet.name} limit={60} />, is frozen: the payment fails at its
      last approval if the wallet is still frozen then.
    </p>
  );
}

/** Why nothing can be decided any more. A person whose decision came too late reads that it does not count. */
function Ended({ transaction: { state, history, approval } }: { transaction: Transaction }) {
  const last = history.at(-1);
  if (state === "awaiting_approval" && approval?.state === "rejected")
    return (
      <div className="notice" role="status">
        <p>
          Nothing can be decided any more: a rejection is recorded, and is being carried out. A decision that
          is not listed above was not recorded.
        </p>
      </div>
    );
  return (
    <div className="notice" role="status">
      <p>
        Nothing can be decided any more: the payment is <StateBadge state={state} />
        {last !== undefined && (
          <>
            {" since "}
            <Time at={last.occurred_at} />
            {last.actor?.client_id != null && (
              <>
                , by <ClientId id={last.actor.client_id} />
              </>
            )}
          </>
        )}
        . A decision that is not listed above was not recorded.
      </p>
    </div>
  );
}
