import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { SecretOnce } from "../../ui/dialogs/secret-once";
import { useDraft } from "../../ui/forms/use-draft";
import type { EndpointFields } from "./endpoint-edit";
import { EndpointInputs } from "./endpoint-fields";
import { LostSecret } from "./lost-secret";

const title = "New endpoint";

interface Draft extends EndpointFields {
  key: string;
}

const empty = (): Draft => ({ key: crypto.randomUUID(), url: "", description: "", events: ["*"] });

/** Creates an endpoint. What was typed survives a reload. */
export function NewEndpoint({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const { value: draft, change, clear } = useDraft<Draft>("endpoint", empty);
  const [shown, setShown] = useState<{ secret: string; keyId: string }>();
  const [lost, setLost] = useState<{ id: string }>();
  const create = useAction({
    mutationFn: () => {
      const { key, url, events, description } = draft;
      return bursar.webhookEndpoints.create(
        { url, events, ...(description === "" ? {} : { description }) },
        { idempotencyKey: key },
      );
    },
    onSuccess: ({ id, secret, key_id }) => {
      clear();
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
      isReady={draft.url !== "" && draft.events.length > 0}
      onConfirm={create.mutate}
      onClose={onClose}
    >
      <EndpointInputs
        fields={draft}
        error={create.error}
        onField={(name, value) => change({ [name]: value } as Partial<EndpointFields>)}
      />
    </Confirm>
  );
}
