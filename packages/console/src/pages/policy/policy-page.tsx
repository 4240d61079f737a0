import { isBursarError, type PolicyDocument } from "@bursar/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { bursar } from "../../api/bursar";
import { useOpenChanges } from "../../api/open-changes";
import { useAction } from "../../api/use-action";
import { useScopes } from "../../session/use-me";
import { ActionButton } from "../../ui/forms/action-button";
import { AreaField } from "../../ui/forms/text-field";
import { useDraft } from "../../ui/forms/use-draft";
import { useGoToFault } from "../../ui/forms/use-go-to-fault";
import { Loaded } from "../../ui/panels/loaded";
import { PageHead } from "../../ui/panels/page-head";
import { Problem } from "../../ui/panels/problem";
import { Time } from "../../ui/values/time";
import { Difference } from "./difference";
import { canonical, isSameDocument, readDocument, writeDocument } from "./document";
import { DryRun } from "./dry-run";
import { LackingApprovers } from "./lacking-approvers";
import { PolicyForm } from "./policy-form";
import { PolicyVersions } from "./policy-versions";

interface InForce {
  version: number;
  document: PolicyDocument;
  etag: string;
  updatedAt: string | null;
}

/** The policy in force, and a draft of the next one, as a form and as JSON. */
export function PolicyPage() {
  const query = useQuery({
    queryKey: ["policy"],
    queryFn: async ({ signal }): Promise<InForce> => {
      const policy = await bursar.policy.get({}, { signal });
      const { version, document, updated_at, lastResponse } = policy;
      return { version, document, updatedAt: updated_at, etag: lastResponse.etag ?? `"${version}"` };
    },
  });
  return (
    <>
      <PageHead title="Policy" />
      <Loaded query={query}>{(inForce) => <Editor inForce={inForce} />}</Loaded>
    </>
  );
}

/** `base` is what the draft was begun with; it stays when somebody else changes the policy meanwhile. */
type Draft = { base: InForce; text: string };

function Editor({ inForce }: { inForce: InForce }) {
  const queries = useQueryClient();
  const scopes = useScopes();
  const draft = useDraft<Draft>("policy", () => ({ base: inForce, text: writeDocument(inForce.document) }));
  const { base, text } = draft.value;
  const read = readDocument(text);
  // A request of one's own that was approved, or the same change of somebody else.
  const isInForce = read.document !== undefined && isSameDocument(read.document, inForce.document);
  const isChanged =
    read.document === undefined
      ? text !== writeDocument(base.document)
      : !isInForce && !isSameDocument(read.document, base.document);
  const waiting = useOpenChanges().flatMap(({ id, change }) =>
    "document" in change ? [{ id, change }] : [],
  );
  const requested = waiting.find(
    ({ change }) =>
      change.expected_version === base.version &&
      read.document !== undefined &&
      isSameDocument(change.document, read.document),
  );
  const save = useAction({
    mutationFn: (document: PolicyDocument) => bursar.policy.replace(document, base.etag),
    onSuccess: async (result) => {
      await queries.invalidateQueries({ queryKey: ["policy"] });
      await queries.invalidateQueries({ queryKey: ["policy-versions"] });
      await queries.invalidateQueries({ queryKey: ["change-requests"] });
      if (result.object !== "policy") return;
      const { version, document, updated_at, lastResponse } = result;
      const fresh = {
        version,
        document,
        updatedAt: updated_at,
        etag: lastResponse.etag ?? `"${version}"`,
      };
      draft.change({ base: fresh, text: writeDocument(document) });
    },
    onError: () => queries.invalidateQueries({ queryKey: ["policy"] }),
  });
  const edit = (changed: string) => {
    // What was wrong with the last attempt says nothing about this one.
    save.reset();
    draft.change({ text: changed });
  };
  const details = isBursarError(save.error) ? save.error.details : [];
  const form = useRef<HTMLFieldSetElement>(null);
  useGoToFault(form, save.error);
  const mayChange = scopes.includes("policies:manage");
  const restart = (from: InForce, document: PolicyDocument) => {
    save.reset();
    draft.change({ base: from, text: writeDocument(document) });
  };
  return (
    <div className="stack">
      <p>
        Version {inForce.version} is in force
        {inForce.updatedAt !== null && (
          <>
            {" since "}
            <Time at={inForce.updatedAt} />
          </>
        )}
        . Rules are tried in order, and the first that matches decides.
      </p>
      {!isChanged && base.version !== inForce.version && (
        <div className="notice">
          <p>
            {isInForce ? "Your draft is what is in force now. " : "The policy has changed. "}
            <button type="button" className="button" onClick={() => restart(inForce, inForce.document)}>
              Show version {inForce.version}
            </button>
          </p>
        </div>
      )}
      {isChanged && base.version !== inForce.version && (
        <OthersChange
          base={base}
          inForce={inForce}
          hasRefused={isBursarError(save.error) && save.error.status === 412}
          onRebase={() => {
            save.reset();
            draft.change({ base: inForce });
          }}
          onDiscard={() => restart(inForce, inForce.document)}
        />
      )}
      <div className="halves">
        {read.document === undefined ? (
          <p className="notice" data-tone="bad">
            The JSON cannot be read, so there is no form of it: {read.fault}
          </p>
        ) : (
          <fieldset ref={form} className="contents" disabled={!mayChange || save.isPending}>
            <PolicyForm
              document={read.document}
              details={details}
              onChange={(document) => edit(writeDocument(document))}
            />
          </fieldset>
        )}
        <AreaField
          label="JSON"
          fault={read.fault}
          rows={Math.min(60, Math.max(20, text.split("\n").length + 1))}
          spellCheck={false}
          autoComplete="off"
          readOnly={!mayChange || save.isPending}
          value={text}
          onValue={edit}
        />
      </div>
      {isChanged && read.document !== undefined && (
        <section className="stack" aria-labelledby="difference">
          <h2 id="difference">Difference to version {inForce.version}</h2>
          <Difference before={inForce.document} after={read.document} label="Difference" />
        </section>
      )}
      {read.document !== undefined && <LackingApprovers document={read.document} />}
      {save.error !== null && <Problem error={save.error} />}
      {save.data?.object === "change_request" && (
        <div className="notice" data-tone="wait" role="status">
          <p>
            This loosens the policy, so others must approve it:{" "}
            <Link to="/change-requests/$id" params={{ id: save.data.id }}>
              {save.data.id}
            </Link>
          </p>
        </div>
      )}
      {waiting
        .filter(({ id }) => save.data?.object !== "change_request" || save.data.id !== id)
        .map(({ id }) => (
          <p key={id} className="notice" data-tone="wait" role="status">
            {id === requested?.id && isChanged
              ? "This draft was requested already, and waits for approval: "
              : "Another change of the policy waits for approval: "}
            <Link to="/change-requests/$id" params={{ id }}>
              {id}
            </Link>
          </p>
        ))}
      {save.data?.object === "policy" && !isChanged && (
        <p className="notice" role="status">
          Version {save.data.version} is now in force.
        </p>
      )}
      {mayChange && (
        <div className="row">
          <ActionButton
            tone="primary"
            isPending={save.isPending}
            disabled={
              !isChanged ||
              read.document === undefined ||
              base.version !== inForce.version ||
              requested !== undefined ||
              save.data?.object === "change_request"
            }
            onAct={() => read.document !== undefined && save.mutate(read.document)}
          >
            Put in force with the passkey
          </ActionButton>
          {isChanged && (
            <button type="button" className="button" onClick={() => restart(inForce, inForce.document)}>
              Discard the draft
            </button>
          )}
        </div>
      )}
      {read.document !== undefined && (
        <DryRun
          key={JSON.stringify([inForce.version, canonical(read.document)])}
          document={read.document}
          inForce={inForce.document}
          isChanged={isChanged}
        />
      )}
      <PolicyVersions
        inForce={inForce}
        mayRestore={mayChange}
        onRestore={(document) => restart(inForce, document)}
      />
    </div>
  );
}

interface OthersChangeProps {
  base: InForce;
  inForce: InForce;
  /** The draft was refused for it. The button that was pressed is below the whole draft, so what is to be done is brought into view. */
  hasRefused: boolean;
  onRebase: () => void;
  onDiscard: () => void;
}

function OthersChange({ base, inForce, hasRefused, onRebase, onDiscard }: OthersChangeProps) {
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!hasRefused) return;
    section.current?.scrollIntoView({ block: "start" });
    section.current?.focus({ preventScroll: true });
  }, [hasRefused]);
  return (
    <section ref={section} tabIndex={-1} className="notice stack" data-tone="wait" aria-labelledby="others">
      <h2 id="others">The policy was changed after version {base.version}, which your draft began with</h2>
      <p>Your draft is kept. Take over by hand what you want of the change below, then go on.</p>
      <div className="row">
        <button type="button" className="button" onClick={onRebase}>
          Go on with my draft, against version {inForce.version}
        </button>
        <button type="button" className="button" onClick={onDiscard}>
          Discard my draft
        </button>
      </div>
      <Difference before={base.document} after={inForce.document} label="The change since then" />
    </section>
  );
}
