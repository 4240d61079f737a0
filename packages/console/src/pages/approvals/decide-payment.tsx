import type { Me, Transaction } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { useMe, useScopes } from "../../session/use-me";
import { RejectButton } from "../../ui/dialogs/reject-button";
import { ActionButton } from "../../ui/forms/action-button";
import { commentCharactersMax } from "../../ui/forms/comment-characters-max";
import { AreaField } from "../../ui/forms/text-field";
import { useDraft } from "../../ui/forms/use-draft";
import { DigestComparison, notAsShown, useShownDigest } from "../../ui/panels/digest-comparison";
import { Problem } from "../../ui/panels/problem";
import { ForeignText } from "../../ui/values/foreign-text";
import { listingWords } from "./address-badges";
import type { ShownListing } from "./use-listing";

interface DecidePaymentProps {
  transaction: Transaction;
  expected: string;
  isAsked: boolean;
  listing: ShownListing;
  computeDigest: () => Promise<string>;
  /** It was recorded or refused. */
  onDecided: () => void;
}

/** The decision of an approver about what the page shows. */
export function DecidePayment(props: DecidePaymentProps) {
  const { transaction, expected, isAsked, listing, computeDigest, onDecided } = props;
  const { id, version, approval } = transaction;
  const queries = useQueryClient();
  const scopes = useScopes();
  const me = useMe().data;
  const draft = useDraft(`approval.${id}`, () => ({ comment: "" }));
  const digest = useShownDigest(computeDigest, `${id} ${version} ${expected}`);
  const decide = useAction({
    mutationFn: async (decision: "approve" | "reject") => {
      if (decision === "approve") await listing.expectSame();
      // Computed once more: what counts is what is shown at this moment.
      const sent = decision === "approve" ? await computeDigest() : expected;
      if (decision === "approve" && (sent !== expected || !isAsked)) throw notAsShown;
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
      <DigestComparison shown={digest} expected={expected} isSame={isSame} />
      {isTooNew && (
        <p className="notice" data-tone="wait" role="status">
          You cannot approve this payment, because it was requested before your account was created, or before
          your passkeys, role or state were last changed. You can reject it.
        </p>
      )}
      {decide.error !== null && <Problem error={decide.error} />}
      {listing.before !== undefined && (
        <div className="notice" data-tone="bad" role="alert">
          <p>
            The allow-list has changed since you looked at the address: it was “
            <ForeignText text={listingWords(listing.before)} />
            ”, and what is shown above is what the list says now.
          </p>
          <div className="row">
            <button
              type="button"
              className="button"
              onClick={() => {
                decide.reset();
                listing.accept();
              }}
            >
              I have looked at it again
            </button>
          </div>
        </div>
      )}
      <div className="row">
        <ActionButton
          tone="primary"
          isPending={decide.isPending}
          disabled={!isSame || isTooNew || listing.isLoading || listing.before !== undefined}
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
