import { type ChangeRequest, changeDigest, type PolicyDocument } from "@bursar/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { useMe, useScopes } from "../../session/use-me";
import { RejectButton } from "../../ui/dialogs/reject-button";
import { ActionButton } from "../../ui/forms/action-button";
import { commentCharactersMax } from "../../ui/forms/comment-characters-max";
import { AreaField } from "../../ui/forms/text-field";
import { useDraft } from "../../ui/forms/use-draft";
import { Decisions } from "../../ui/panels/decisions";
import { DigestComparison, notAsShown, useShownDigest } from "../../ui/panels/digest-comparison";
import { Fact, Facts, StateFact, TextFact, TimeFact } from "../../ui/panels/facts";
import { Loaded } from "../../ui/panels/loaded";
import { ObjectPage } from "../../ui/panels/object-page";
import { Problem } from "../../ui/panels/problem";
import { RawJson } from "../../ui/panels/raw-json";
import { NamedClientId } from "../../ui/values/client-id";
import { Countdown, durationOf } from "../../ui/values/countdown";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { Difference } from "../policy/difference";
import { ChangeFacts } from "./change-facts";
import { isOfClient, RemovedDestination } from "./change-target";
import { kindNames } from "./kind-names";

export function ChangeRequestPage() {
  const { id } = useParams({ from: "/change-requests/$id" });
  return (
    <ObjectPage
      title="Change request"
      queryKey={["change-request", id]}
      read={(options) => bursar.changeRequests.get(id, options)}
      refreshMs={5000}
    >
      {(request) => <Details key={request.id} request={request} />}
    </ObjectPage>
  );
}

function Details({ request }: { request: ChangeRequest }) {
  const me = useMe().data;
  const { id, kind, target, state, change, comment, requested_by, decisions, required, delay_seconds } =
    request;
  // The form is gone when the request has ended, and with it what it would say.
  const [lost, setLost] = useState<Attempt>();
  const approved = decisions.filter(({ decision }) => decision === "approve").length;
  return (
    <div className="stack">
      <div className="card stack">
        <h2>{kindNames[kind]}</h2>
        <Facts>
          <StateFact state={state}>
            {approved} of {required} approvals recorded
          </StateFact>
          <Fact name="Target">
            {isOfClient(request) ? <NamedClientId id={target} /> : <code>{target}</code>}
          </Fact>
          <Fact name="Requested by">
            {requested_by === me?.client.id ? "You" : <NamedClientId id={requested_by} />}
          </Fact>
          <TextFact name="Comment" text={comment} />
          <TimeFact name="Requested" at={request.created_at} />
          <Fact name="To be decided within">
            {state === "pending" && <Countdown until={request.expires_at} />}
          </Fact>
          <Fact name="Waits after approval">{delay_seconds > 0 && durationOf(delay_seconds * 1000)}</Fact>
          <Fact name="Takes effect">
            {state === "scheduled" && request.effective_at !== null && (
              <Countdown until={request.effective_at} isDeadline={false} />
            )}
          </Fact>
          <Fact name="Failure">{request.failure_code !== null && <code>{request.failure_code}</code>}</Fact>
        </Facts>
      </div>
      <section className="stack" aria-labelledby="change">
        <h2 id="change">What would change</h2>
        {"document" in change ? (
          <PolicyChange document={change.document} expected={change.expected_version} />
        ) : (
          <div className="card">
            {kind === "destination.remove" ? (
              <RemovedDestination request={request} />
            ) : (
              <ChangeFacts change={change} />
            )}
          </div>
        )}
      </section>
      <Decisions decisions={decisions} me={me?.client.id ?? ""} />
      {state === "pending" && approved >= required && (
        <p className="notice" data-tone="wait" role="status">
          Enough approvals are recorded, and the change still waits, so not all of them count: who approves
          must not be disabled or changed after the request, nor depend on who has requested it, or on another
          approver. Somebody else has to approve it.
        </p>
      )}
      {state === "pending" || state === "scheduled" ? (
        <Decide request={request} onAttempt={setLost} />
      ) : (
        <Ended request={request} lost={lost} me={me?.client.id} />
      )}
      <RawJson value={request} key={id} />
    </div>
  );
}

function PolicyChange({ document, expected }: { document: PolicyDocument; expected: number }) {
  const mayRead = useScopes().includes("policies:read");
  const base = useQuery({
    queryKey: ["policy-version", expected],
    enabled: mayRead,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => bursar.policy.get({ version: expected }, { signal }),
  });
  if (!mayRead) return <RawJson value={document} />;
  return (
    <Loaded query={base}>
      {(policy) => (
        <>
          <p>Against version {expected}:</p>
          <Difference before={policy.document} after={document} label="What would change" />
        </>
      )}
    </Loaded>
  );
}

interface EndedProps {
  request: ChangeRequest;
  /** What this person tried last, if the service refused it. */
  lost: Attempt | undefined;
  me: string | undefined;
}

/** Why nothing can be decided any more. A person whose decision came too late reads that it does not count. */
function Ended({ request: { id, state, updated_at, decisions }, lost, me }: EndedProps) {
  const draft = useDraft(`change.${id}`, noComment);
  const hasDecided = decisions.some(({ client_id }) => client_id === me);
  const comment = draft.value.comment.trim();
  return (
    <div className="notice stack" data-tone={lost === undefined ? undefined : "wait"} role="status">
      {lost !== undefined && (
        <p>
          <strong>Your {lostWords[lost]} was not recorded.</strong> It came too late.
        </p>
      )}
      <p>
        Nothing can be decided any more: the change is <StateBadge state={state} /> since{" "}
        <Time at={updated_at} />. A decision that is not listed above was not recorded.
      </p>
      {!hasDecided && comment !== "" && (
        <p>
          Your comment was not sent: <ForeignText text={comment} />
        </p>
      )}
    </div>
  );
}

type Attempt = "approve" | "reject" | "cancel";

const lostWords: Readonly<Record<Attempt, string>> = {
  approve: "approval",
  reject: "rejection",
  cancel: "cancellation",
};

const noComment = () => ({ comment: "" });

interface DecideProps {
  request: ChangeRequest;
  /** What was refused; undefined when something is tried, or was recorded. */
  onAttempt: (refused: Attempt | undefined) => void;
}

function Decide({ request, onAttempt }: DecideProps) {
  const { id, version, digest: expected, state, requested_by, decisions } = request;
  const queries = useQueryClient();
  const me = useMe().data;
  const draft = useDraft(`change.${id}`, noComment);
  const computeDigest = () => changeDigest(request, me?.tenant.id ?? "");
  const shown = useShownDigest(computeDigest, `${id} ${version} ${expected} ${me?.tenant.id}`);
  const isSame = shown.value === expected;
  const act = useAction({
    mutationFn: async (what: Attempt) => {
      // Computed once more: what counts is what is shown at this moment.
      const digest = what === "approve" ? await computeDigest() : expected;
      if (digest !== expected) throw notAsShown;
      const comment = draft.value.comment.trim();
      const body = { digest, ...(comment === "" ? {} : { comment }) };
      return what === "cancel"
        ? await bursar.changeRequests.cancel(id)
        : await bursar.changeRequests[what](id, body);
    },
    onMutate: () => onAttempt(undefined),
    onSuccess: () => draft.clear(),
    onError: (_, what) => onAttempt(what),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ["change-request", id] });
      await queries.invalidateQueries({ queryKey: ["change-requests"] });
    },
  });
  const isOwn = requested_by === me?.client.id;
  const hasApproved = decisions.some(({ client_id }) => client_id === me?.client.id);
  return (
    <section className="card stack form" aria-labelledby="decide">
      <h2 id="decide">{isOwn ? "Your request" : "Your decision"}</h2>
      {!isOwn && (
        <AreaField
          label="Comment"
          hint="Optional. It is stored with your decision."
          maxLength={commentCharactersMax}
          rows={2}
          value={draft.value.comment}
          onValue={(comment) => draft.change({ comment })}
        />
      )}
      {!isOwn && <DigestComparison shown={shown} expected={expected} isSame={isSame} />}
      {hasApproved && <p>Your approval is recorded. You can still reject the change while it waits.</p>}
      {act.error !== null && <Problem error={act.error} />}
      <div className="row">
        {!isOwn && !hasApproved && state === "pending" && (
          <ActionButton
            tone="primary"
            isPending={act.isPending}
            disabled={!isSame}
            onAct={() => act.mutate("approve")}
          >
            Approve with the passkey
          </ActionButton>
        )}
        {!isOwn && (
          <RejectButton noun="change" isPending={act.isPending} onReject={() => act.mutate("reject")}>
            <p>One rejection ends the request. It cannot be taken back.</p>
          </RejectButton>
        )}
        {isOwn && (
          <ActionButton tone="danger" isPending={act.isPending} onAct={() => act.mutate("cancel")}>
            Cancel the request
          </ActionButton>
        )}
      </div>
    </section>
  );
}
