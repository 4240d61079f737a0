import type { Me, Transaction } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { bursar } from "../../api/bursar";
import { useAssets } from "../../api/catalog";
import { useAction } from "../../api/use-action";
import { useWallet } from "../../api/wallet-names";
import { useMe, useScopes } from "../../session/use-me";
import { RejectButton } from "../../ui/dialogs/reject-button";
import { ActionButton } from "../../ui/forms/action-button";
import { commentCharactersMax } from "../../ui/forms/comment-characters-max";
import { AreaField } from "../../ui/forms/text-field";
import { useDraft } from "../../ui/forms/use-draft";
import { Decisions } from "../../ui/panels/decisions";
import { Fact, FactsCard, FailureFact, MetadataFacts, StateFact, TextFact } from "../../ui/panels/facts";
import { ObjectPage } from "../../ui/panels/object-page";
import { Problem } from "../../ui/panels/problem";
import { ClientId } from "../../ui/values/client-id";
import { Countdown } from "../../ui/values/countdown";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { isJustDecided, progressWords } from "./approval-progress";
import { approvalWords } from "./approval-words";
import { digestOfShown } from "./shown-terms";
import { TallyNotes } from "./tally-notes";
import { TermsCard } from "./terms-card";
import { useApprovalTally } from "./use-approval-tally";

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
      {(transaction) => <Details transaction={transaction} asked={id} />}
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
        <TermsCard ref={shown} transaction={transaction} tenant={me.tenant} decimals={decimals} />
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
          <StateFact state={approvalWords(approval.state)}>{progressWords(approval, tally)}</StateFact>
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
      <Decisions decisions={approval.decisions} me={me.client.id} />
      <div ref={decision} tabIndex={-1}>
        {approval.state !== "pending" && <Ended transaction={transaction} />}
        {approval.state === "pending" && (
          <Decide
            key={transaction.id}
            transaction={transaction}
            expected={approval.digest}
            isAsked={transaction.id === asked}
            computeDigest={async () => {
              if (shown.current === null) throw new Error("The page does not show the payment.");
              return await digestOfShown(shown.current, decimals);
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

interface DecideProps {
  transaction: Transaction;
  expected: string;
  isAsked: boolean;
  computeDigest: () => Promise<string>;
  /** It was recorded or refused. */
  onDecided: () => void;
}

function Decide({ transaction, expected, isAsked, computeDigest, onDecided }: DecideProps) {
  const { id, version, approval } = transaction;
  const queries = useQueryClient();
  const scopes = useScopes();
  const me = useMe().data;
  const draft = useDraft(`approval.${id}`, () => ({ comment: "" }));
  const digest = useDigest(computeDigest, `${id} ${version} ${expected}`);
  const decide = useAction({
    mutationFn: async (decision: "approve" | "reject") => {
      // Computed once more: what counts is what is shown at this moment.
      const sent = decision === "approve" ? await computeDigest() : expected;
      if (decision === "approve" && (sent !== expected || !isAsked)) throw differs;
      const comment = draft.value.comment.trim();
      return await bursar.transactions.decide(id, {
        decision,
        digest: sent,
        ...(comment === "" ? {} : { comment }),
      });
    },
    onSuccess: () => draft.clear(),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ["transaction", id] });
      await queries.invalidateQueries({ queryKey: ["approvals"] });
      onDecided();
    },
  });
  if (!scopes.includes("transactions:approve"))
    return <p className="quiet">Your role does not decide about payments.</p>;
  const own = approval?.decisions.find(({ client_id }) => client_id === me?.client.id);
  if (own !== undefined) return <p>Your decision is recorded. It cannot be taken back.</p>;
  const isSame = digest.value === expected && isAsked;
  const isTooNew = me !== undefined && isNewerThan(transaction, me);
  return (
    <section className="card stack form" aria-labelledby="decide">
      <h2 id="decide">Your decision</h2>
      <AreaField
        label="Comment"
        hint="Optional. Everybody who can read the transaction sees it."
        maxLength={commentCharactersMax}
        rows={2}
        value={draft.value.comment}
        onValue={(comment) => draft.change({ comment })}
      />
      <p className="small" role="status">
        {digest.value === undefined &&
          digest.error === undefined &&
          "Comparing what is shown with the service."}
        {isSame &&
          "What is shown above is what the service has recorded, and what your passkey signs. Digest: "}
        {isSame && <code className="wrap-anywhere">{expected}</code>}
      </p>
      {digest.error !== undefined && <Problem error={digest.error} />}
      {digest.value !== undefined && !isSame && (
        <div className="notice" data-tone="bad" role="alert">
          <p>{differs.message}</p>
          <p className="small wrap-anywhere">
            Shown here <code>{digest.value}</code>, the service's <code>{expected}</code>
          </p>
        </div>
      )}
      {isTooNew && (
        <p className="notice" data-tone="wait" role="status">
          You cannot approve this payment, because it was requested before your account was created, or before
          your passkeys, role or state were last changed. You can reject it.
        </p>
      )}
      {decide.error !== null && <Problem error={decide.error} />}
      <div className="row">
        <ActionButton
          tone="primary"
          isPending={decide.isPending}
          disabled={!isSame || isTooNew}
          onAct={() => decide.mutate("approve")}
        >
          Approve with the passkey
        </ActionButton>
        <RejectButton noun="payment" isPending={decide.isPending} onReject={() => decide.mutate("reject")}>
          <p>
            One rejection ends the payment, whatever others have decided. It cannot be taken back: if the
            payment is wanted after all, it has to be requested again.
          </p>
        </RejectButton>
      </div>
    </section>
  );
}

/** The service does not count the approval then. */
function isNewerThan({ created_at }: Transaction, { client, tenant }: Me): boolean {
  return !tenant.single_administrator && Date.parse(client.authority_changed_at) >= Date.parse(created_at);
}

const differs = new Error(
  "What this page shows is not what the service would record as approved. It can be rejected, and not approved. Tell your operator.",
);

/** The digest of what is shown, computed after it is in the document. */
function useDigest(compute: () => Promise<string>, key: string) {
  const [found, setFound] = useState<{ key: string; value?: string; error?: unknown }>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says when there is something else to compute
  useEffect(() => {
    let isCurrent = true;
    compute().then(
      (value) => isCurrent && setFound({ key, value }),
      (error: unknown) => isCurrent && setFound({ key, error }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key]);
  return found?.key === key
    ? { value: found.value, error: found.error }
    : { value: undefined, error: undefined };
}
