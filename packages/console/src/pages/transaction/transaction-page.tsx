import type { Transaction } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { bursar } from "../../api/bursar";
import { useMayFollow } from "../../live/not-live";
import { useScopes } from "../../session/use-me";
import { Curl } from "../../ui/panels/curl";
import {
  ClientFact,
  Fact,
  FactsCard,
  FailureFact,
  IdFact,
  MetadataFacts,
  StateFact,
  TextFact,
  TimeFact,
} from "../../ui/panels/facts";
import { ObjectPage } from "../../ui/panels/object-page";
import { RawJson } from "../../ui/panels/raw-json";
import { AddressLabel } from "../../ui/values/address-label";
import { Amount } from "../../ui/values/amount";
import { ClientId } from "../../ui/values/client-id";
import { Countdown } from "../../ui/values/countdown";
import { Party } from "../../ui/values/party";
import { Time } from "../../ui/values/time";
import { progressWords } from "../approvals/approval-progress";
import { approvalWords } from "../approvals/approval-words";
import { TallyNotes } from "../approvals/tally-notes";
import { useApprovalTally } from "../approvals/use-approval-tally";
import { followTransaction, isFinal, type TransactionSource } from "./follow-transaction";
import { LedgerEntries } from "./ledger-entries";
import { TransactionActions } from "./transaction-actions";
import { TransactionDeliveries } from "./transaction-deliveries";
import { TransactionHistory } from "./transaction-history";
import { whenChanged } from "./transaction-stage";

const refreshMs = 5000;

export function TransactionPage() {
  const { id } = useParams({ from: "/transactions/$id" });
  const mayFollow = useMayFollow();
  return (
    <ObjectPage
      title="Transaction"
      queryKey={["transaction", id]}
      read={(options) => bursar.transactions.get(id, options)}
      // A request to cancel it is no event, so a payment on a chain is read again, and without the scope for events every payment.
      refreshMs={(found) =>
        found !== undefined && (!mayFollow || found.network !== "book") && !isFinal(found) && refreshMs
      }
      actions={(transaction) => <TransactionActions transaction={transaction} />}
    >
      {(transaction) => <Details transaction={transaction} />}
    </ObjectPage>
  );
}

/** Shows every change of the transaction until it is final. */
function useUpdates(transaction: Transaction): void {
  const queries = useQueryClient();
  const { id } = transaction;
  const isFollowed = useMayFollow() && !isFinal(transaction);
  useEffect(() => {
    if (!isFollowed) return undefined;
    const ending = new AbortController();
    const show = (changed: Transaction) =>
      queries.setQueryData(["transaction", id], (known?: Transaction) => whenChanged(known, changed));
    void followTransaction(id, sourceOf(id), show, ending.signal);
    return () => ending.abort();
  }, [queries, id, isFollowed]);
}

function sourceOf(id: string): TransactionSource {
  return {
    position: async (signal) => {
      const { latest_sequence, epoch } = await bursar.events
        .list({ limit: 1, order: "desc" }, { signal })
        .page();
      return { sequence: latest_sequence, epoch };
    },
    read: (signal) => bursar.transactions.get(id, { signal }),
    follow: (since, epoch, signal) =>
      bursar.events.follow({ since, epoch, kinds: ["transaction.updated"], signal }),
  };
}

function Details({ transaction }: { transaction: Transaction }) {
  useUpdates(transaction);
  const tally = useApprovalTally(transaction, refreshMs);
  const scopes = useScopes();
  const {
    id,
    kind,
    reference,
    state,
    amount,
    asset,
    network,
    fee,
    hash,
    block,
    failure,
    approval,
    cancel_request,
  } = transaction;
  return (
    <div className="stack">
      <FactsCard>
        <IdFact id={id} />
        <StateFact state={state} />
        <Fact name="Kind">{kind}</Fact>
        <Fact name="Amount">
          <Amount value={amount} asset={asset} />
        </Fact>
        <TextFact name="Reference" text={reference} />
        <Fact name="From">
          <Party party={transaction.source} />
        </Fact>
        <Fact name="To">
          {transaction.destination !== null && "address" in transaction.destination && (
            <AddressLabel address={transaction.destination.address} network={network} />
          )}
          <Party party={transaction.destination} />
        </Fact>
        <Fact name="Network">{network}</Fact>
        <Fact name="Hash">{hash !== null && <code>{hash}</code>}</Fact>
        <Fact name="Block">{block?.number}</Fact>
        <Fact name="Fee">{fee !== null && <Amount value={fee.amount} asset={fee.asset} />}</Fact>
        <Fact name="Cancellation requested">
          {cancel_request !== null && (
            <>
              <Time at={cancel_request.requested_at} long /> by <Requester by={cancel_request.requested_by} />
              . It is not decided yet whether the payment is made: it ends as cancelled, or as completed if a
              block has it first.
            </>
          )}
        </Fact>
        <FailureFact failure={failure} />
        <Fact name="Policy">
          <Decided transaction={transaction} />
        </Fact>
        <Fact name="Approvals">
          {approval !== null && `${progressWords(transaction, tally)}, ${approvalWords(approval.state)}`}
        </Fact>
        <Fact name="To be decided within">
          {approval?.state === "pending" && <Countdown until={approval.expires_at} />}
        </Fact>
        <ClientFact name="Created by" id={transaction.created_by} />
        <TimeFact name="Created" at={transaction.created_at} />
        <TimeFact name="Expires" at={transaction.expires_at} />
        <MetadataFacts metadata={transaction.metadata} />
      </FactsCard>
      {tally !== undefined && <TallyNotes tally={tally} />}
      <TransactionHistory transaction={transaction} />
      {scopes.includes("audit:read") && (
        <p>
          <Link to="/audit" search={{ object: id }}>
            Audit entries about this transaction
          </Link>
        </p>
      )}
      <LedgerEntries transaction={transaction} />
      {["webhooks:manage", "events:read"].every((scope) => scopes.includes(scope)) && (
        <TransactionDeliveries transaction={transaction} />
      )}
      <RawJson value={transaction} />
      <Curl method="GET" path={`/v1/transactions/${id}`} />
    </div>
  );
}

function Requester({ by }: { by: NonNullable<Transaction["cancel_request"]>["requested_by"] }) {
  return by.type === "operator" ? "the operator" : <ClientId id={by.client_id} />;
}

/** The version of the policy that evaluated it, and the rule that decided. */
function Decided({ transaction: { policy_version, policy_rule } }: { transaction: Transaction }) {
  const mayRead = useScopes().includes("policies:read");
  if (policy_version === 0) return "not evaluated by a policy";
  const version = `version ${policy_version}`;
  return (
    <>
      {mayRead ? <Link to="/policy">{version}</Link> : version}
      {policy_rule !== null && (
        <>
          , rule <code>{policy_rule}</code>
        </>
      )}
    </>
  );
}
