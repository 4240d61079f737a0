import type { Transaction } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { useWalletNames } from "../../api/wallet-names";
import { useScopes } from "../../session/use-me";
import { Confirm } from "../../ui/dialogs/confirm";
import { ActionButton } from "../../ui/forms/action-button";
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
import { ForeignText } from "../../ui/values/foreign-text";
import { Party } from "../../ui/values/party";
import { approvalWords } from "../approvals/approval-words";
import { followTransaction, isFinal, type TransactionSource } from "./follow-transaction";
import { LedgerEntries } from "./ledger-entries";
import { TransactionDeliveries } from "./transaction-deliveries";
import { TransactionHistory } from "./transaction-history";
import { cancellationNote, mayBeCancelled } from "./transaction-stage";

export function TransactionPage() {
  const { id } = useParams({ from: "/transactions/$id" });
  return (
    <ObjectPage
      title="Transaction"
      queryKey={["transaction", id]}
      read={(options) => bursar.transactions.get(id, options)}
      actions={(transaction) => <Actions transaction={transaction} />}
    >
      {(transaction) => <Details transaction={transaction} />}
    </ObjectPage>
  );
}

/** Shows every change of the transaction until it is final. */
function useUpdates(transaction: Transaction): void {
  const queries = useQueryClient();
  const { id } = transaction;
  const hasEnded = isFinal(transaction);
  useEffect(() => {
    if (hasEnded) return undefined;
    const ending = new AbortController();
    const show = (changed: Transaction) =>
      queries.setQueryData(["transaction", id], (known?: Transaction) =>
        known !== undefined && known.version >= changed.version ? known : changed,
      );
    void followTransaction(id, sourceOf(id), show, ending.signal);
    return () => ending.abort();
  }, [queries, id, hasEnded]);
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

function Actions({ transaction }: { transaction: Transaction }) {
  const queries = useQueryClient();
  const scopes = useScopes();
  const [isAsking, setAsking] = useState(false);
  const cancel = useAction({
    mutationFn: () => bursar.transactions.cancel(transaction.id),
    onSuccess: () => setAsking(false),
    onSettled: () => queries.invalidateQueries({ queryKey: ["transaction", transaction.id] }),
  });
  const isCancellable = mayBeCancelled(transaction);
  const wasRequested = cancel.isSuccess && !isFinal(transaction);
  return (
    <>
      {transaction.state === "awaiting_approval" && (
        <Link
          to="/approvals/$id"
          params={{ id: transaction.id }}
          className="button"
          data-tone={scopes.includes("transactions:approve") ? "primary" : undefined}
        >
          {scopes.includes("transactions:approve") ? "Decide" : "Open the approval"}
        </Link>
      )}
      {wasRequested && <p role="status">The cancellation was requested.</p>}
      {scopes.includes("transactions:write") && isCancellable && !wasRequested && (
        <ActionButton tone="danger" isPending={cancel.isPending} onAct={() => setAsking(true)}>
          Cancel the payment
        </ActionButton>
      )}
      {isAsking && (
        <Confirm
          title="Cancel this payment?"
          verb="Cancel the payment"
          tone="danger"
          closeVerb="Keep it"
          mutation={cancel}
          isReady={isCancellable}
          onConfirm={cancel.mutate}
          onClose={() => setAsking(false)}
        >
          <p>
            <ForeignText text={transaction.reference} />,{" "}
            <Amount value={transaction.amount} asset={transaction.asset} />. This cannot be undone.
          </p>
          {isCancellable ? (
            <p>{cancellationNote(transaction)}</p>
          ) : (
            <p className="notice" data-tone="bad" role="alert">
              It can no longer be cancelled: it is {transaction.state} by now.
            </p>
          )}
        </Confirm>
      )}
    </>
  );
}

function Details({ transaction }: { transaction: Transaction }) {
  useUpdates(transaction);
  const names = useWalletNames();
  const scopes = useScopes();
  const { id, kind, reference, state, amount, asset, network, fee, hash, block, failure, approval } =
    transaction;
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
          <Party party={transaction.source} names={names} />
        </Fact>
        <Fact name="To">
          {transaction.destination !== null && "address" in transaction.destination && (
            <AddressLabel address={transaction.destination.address} network={network} />
          )}
          <Party party={transaction.destination} names={names} />
        </Fact>
        <Fact name="Network">{network}</Fact>
        <Fact name="Hash">{hash !== null && <code>{hash}</code>}</Fact>
        <Fact name="Block">{block?.number}</Fact>
        <Fact name="Fee">{fee !== null && <Amount value={fee.amount} asset={fee.asset} />}</Fact>
        <FailureFact failure={failure} />
        <Fact name="Policy">
          <Decided transaction={transaction} />
        </Fact>
        <Fact name="Approvals">
          {approval !== null &&
            `${approval.approved} of ${approval.required}, ${approvalWords(approval.state)}`}
        </Fact>
        <ClientFact name="Created by" id={transaction.created_by} />
        <TimeFact name="Created" at={transaction.created_at} />
        <TimeFact name="Expires" at={transaction.expires_at} />
        <MetadataFacts metadata={transaction.metadata} />
      </FactsCard>
      <TransactionHistory transaction={transaction} />
      {scopes.includes("audit:read") && (
        <p>
          <Link to="/audit" search={{ object: id }}>
            Audit entries about this transaction
          </Link>
        </p>
      )}
      <LedgerEntries transaction={transaction} names={names} />
      {["webhooks:manage", "events:read"].every((scope) => scopes.includes(scope)) && (
        <TransactionDeliveries transaction={transaction} />
      )}
      <RawJson value={transaction} />
      <Curl method="GET" path={`/v1/transactions/${id}`} />
    </div>
  );
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
