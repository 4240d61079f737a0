import type { CreateWebhookEndpointBody } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { SecretOnce } from "../../ui/dialogs/secret-once";
import { useKeyedDraft } from "../../ui/forms/use-draft";
import { ForeignText } from "../../ui/values/foreign-text";
import { wasNotMade } from "../../unanswered/was-not-made";
import type { EndpointFields } from "./endpoint-edit";
import { EndpointInputs } from "./endpoint-fields";
import { LostSecret } from "./lost-secret";

const title = "New endpoint";

/** A request that has no answer yet. */
interface Sent {
  key: string;
  body: CreateWebhookEndpointBody;
}

type Draft = EndpointFields & {
  /** Not named `sent`: they are forgotten with the rest when the person logs out. */
  tried: readonly Sent[];
};

const empty = (): Draft => ({ url: "", description: "", events: ["*"], tried: [] });

/**
 * Creates an endpoint. What was typed survives a reload. Another content has another key, and the same content has the key that it was sent
 * with: asked for again, it is created once.
 */
export function NewEndpoint({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const draft = useKeyedDraft("endpoint", empty);
  const { tried, url, events, description } = draft.value;
  const body: CreateWebhookEndpointBody = { url, events, ...(description === "" ? {} : { description }) };
  const earlier = tried.find((one) => isSameBody(one.body, body));
  const others = tried.filter((one) => one !== earlier);
  const [shown, setShown] = useState<{ secret: string; keyId: string }>();
  const [lost, setLost] = useState<{ id: string }>();
  const create = useAction({
    mutationFn: async () => {
      const { key } = earlier ?? draft.value;
      // Before it is sent: it may be created, also if the page is left meanwhile.
      if (earlier === undefined) draft.change({ tried: [...others, { key, body }] });
      try {
        return await bursar.webhookEndpoints.create(earlier?.body ?? body, { idempotencyKey: key });
      } catch (error) {
        if (wasNotMade(error, earlier !== undefined)) draft.change({ tried: others });
        throw error;
      }
    },
    onSuccess: ({ id, secret, key_id }) => {
      draft.clear();
      void queries.invalidateQueries({ queryKey: ["webhooks"] });
      if (secret === null || key_id === null) setLost({ id });
      else setShown({ secret, keyId: key_id });
    },
  });
  if (shown !== undefined) return <SecretOnce title={title} {...shown} onDone={onClose} />;
  if (lost !== undefined)
    return (
      <LostSecret
        title={title}
        what="The endpoint was created by an attempt whose answer was lost."
        advice="Rotate the secret of the endpoint to get one that is shown."
        action={
          <Link to="/webhooks/$id" params={lost} className="button">
            Open the endpoint
          </Link>
        }
        onClose={onClose}
      />
    );
  return (
    <Confirm
      title={title}
      verb="Create with the passkey"
      mutation={create}
      isReady={url !== "" && events.length > 0}
      onConfirm={create.mutate}
      onClose={onClose}
    >
      <EndpointInputs
        fields={draft.value}
        error={create.error}
        onField={(name, value) => {
          create.reset();
          draft.edit({ [name]: value } as Partial<EndpointFields>);
        }}
      />
      {!create.isPending && others.length > 0 && (
        <div className="notice stack" data-tone="wait" role="alert">
          {others.map((one) => (
            <p key={one.key}>
              An endpoint for <ForeignText text={one.body.url} limit={80} /> was sent and had no answer. It
              may have been created.
            </p>
          ))}
          <p>This would be another one. Look at the list of endpoints first.</p>
        </div>
      )}
      {(url !== "" || description !== "" || tried.length > 0) && (
        <div className="row">
          <button
            type="button"
            className="button small"
            onClick={() => {
              create.reset();
              draft.clear();
            }}
          >
            Discard what was typed
          </button>
        </div>
      )}
    </Confirm>
  );
}

/** Events are chosen in any order. */
function isSameBody(one: CreateWebhookEndpointBody, other: CreateWebhookEndpointBody): boolean {
  const text = ({ url, description, events = [] }: CreateWebhookEndpointBody) =>
    JSON.stringify([url, description, [...events].sort()]);
  return text(one) === text(other);
}
