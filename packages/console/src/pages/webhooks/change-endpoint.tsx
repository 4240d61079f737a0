import type { WebhookEndpoint } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { readBeforeChange } from "../../api/read-before-change";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { SecretOnce } from "../../ui/dialogs/secret-once";
import { useDraft } from "../../ui/forms/use-draft";
import { ForeignText } from "../../ui/values/foreign-text";
import { wasNotMade } from "../../unanswered/was-not-made";
import {
  changeBodyOf,
  changedFields,
  conflictingFields,
  type EndpointEdit,
  type EndpointFields,
  editField,
  type FieldName,
  fieldsOf,
  shownFields,
} from "./endpoint-edit";
import { EndpointInputs } from "./endpoint-fields";
import { LostSecret } from "./lost-secret";

/** `sentUrl` is that of a request which has no answer yet: a secret that it made is known to nobody. */
type Draft = EndpointEdit & { sentUrl?: string | undefined };

const title = "Change the endpoint";

const fieldWords: Readonly<Record<FieldName, string>> = {
  url: "URL",
  description: "description",
  events: "events",
};

interface ChangeEndpointProps {
  endpoint: WebhookEndpoint;
  onClose: () => void;
}

/**
 * Changes an endpoint that others can change too. Only the fields that the person has changed are kept, and sent. A new URL has a new secret,
 * and so has one that the person vouches for.
 */
export function ChangeEndpoint({ endpoint, onClose }: ChangeEndpointProps) {
  const queries = useQueryClient();
  const draft = useDraft<Draft>(`endpoint.${endpoint.id}`, () => ({}));
  const edit = draft.value;
  const now = fieldsOf(endpoint);
  const fields = shownFields(edit, now);
  const conflicts = conflictingFields(edit, now);
  // Of the URL that was shown then, and of no other.
  const [takenUrl, setTakenUrl] = useState<string>();
  const isTaken = takenUrl === fields.url && takenUrl === endpoint.url;
  const [shown, setShown] = useState<{ secret: string; keyId: string }>();
  const [isLost, setLost] = useState(false);
  const { sentUrl } = edit;
  const save = useAction({
    mutationFn: async () => {
      const present = await readBeforeChange(() => bursar.webhookEndpoints.get(endpoint.id));
      queries.setQueryData(["webhooks", "endpoint", endpoint.id], present);
      refuseConflict(conflictingFields(edit, fieldsOf(present)));
      if (isTaken && present.url !== takenUrl) refuseConflict(["url"]);
      const body = {
        ...changeBodyOf(edit, fieldsOf(present)),
        ...(isTaken && { url: takenUrl }),
      };
      // An earlier attempt has done it all.
      if (Object.keys(body).length === 0)
        return { secret: null, key_id: null, isSecretLost: present.url === sentUrl };
      if (body.url !== undefined) draft.change({ sentUrl: body.url });
      try {
        const { url, secret, key_id } = await bursar.webhookEndpoints.change(endpoint.id, body);
        return { secret, key_id, isSecretLost: secret === null && url === sentUrl };
      } catch (error) {
        if (wasNotMade(error, sentUrl !== undefined)) draft.change({ sentUrl: undefined });
        throw error;
      }
    },
    onSuccess: ({ secret, key_id, isSecretLost }) => {
      draft.clear();
      void queries.invalidateQueries({ queryKey: ["webhooks"] });
      if (secret !== null && key_id !== null) setShown({ secret, keyId: key_id });
      else if (isSecretLost) setLost(true);
      else onClose();
    },
  });
  const setEdit = (next: EndpointEdit) => {
    save.reset();
    draft.change(next);
  };
  if (shown !== undefined) return <SecretOnce title={title} {...shown} onDone={onClose} />;
  if (isLost)
    return (
      <LostSecret
        title={title}
        what="An attempt whose answer was lost has given the endpoint a new secret."
        advice="Rotate the secret of the endpoint to get one that is shown."
        onClose={onClose}
      />
    );
  const changed = changedFields(edit, now);
  return (
    <Confirm
      title={title}
      verb="Save with the passkey"
      mutation={save}
      isReady={
        (changed.length > 0 || isTaken || sentUrl !== undefined) &&
        conflicts.length === 0 &&
        fields.url !== "" &&
        fields.events.length > 0
      }
      onConfirm={save.mutate}
      onClose={onClose}
    >
      <EndpointInputs
        fields={fields}
        error={save.error}
        onField={(name, value) => setEdit(editField(edit, now, name, value))}
      />
      {fields.url === endpoint.url ? (
        <label>
          <input
            type="checkbox"
            checked={isTaken}
            onChange={() => setTakenUrl(isTaken ? undefined : endpoint.url)}
          />{" "}
          let it act for me: I know that this URL is ours. If it acts for another client, it gets a new
          secret.
        </label>
      ) : (
        <p className="notice" data-tone="wait">
          Another URL gets a new secret and must answer a challenge before anything is sent to it.
        </p>
      )}
      {conflicts.map((name) => (
        <Conflict
          key={name}
          name={name}
          now={now}
          onKeep={() => setEdit({ [name]: { before: now[name], typed: fields[name] } })}
          onDrop={() => setEdit({ [name]: undefined })}
        />
      ))}
      {sentUrl !== undefined && !save.isPending && (
        <p className="notice" data-tone="wait" role="status">
          An attempt to save had no answer. If it arrived, the endpoint can have a new secret, which cannot be
          shown. Save again to find out.
        </p>
      )}
      {(changed.length > 0 || sentUrl !== undefined) && (
        <p className="row small">
          <span className="quiet">
            {changed.length > 0 && `Not saved yet: ${changed.map((name) => fieldWords[name]).join(", ")}`}
          </span>
          <button
            type="button"
            className="button small"
            onClick={() => {
              save.reset();
              draft.clear();
            }}
          >
            Discard what was typed
          </button>
        </p>
      )}
    </Confirm>
  );
}

interface ConflictProps {
  name: FieldName;
  now: EndpointFields;
  onKeep: () => void;
  onDrop: () => void;
}

/** Somebody else has changed the same field. Nothing is saved until the person says which of the two is meant. */
function Conflict({ name, now, onKeep, onDrop }: ConflictProps) {
  const value = now[name];
  const text = typeof value === "string" ? value : value.join(", ");
  return (
    <div className="notice stack" data-tone="wait" role="alert">
      <p>
        Somebody has changed the {fieldWords[name]} meanwhile, to{" "}
        {text === "" ? "nothing" : <ForeignText text={text} limit={300} />}.
      </p>
      <div className="row">
        <button type="button" className="button small" onClick={onKeep}>
          Keep mine
        </button>
        <button type="button" className="button small" onClick={onDrop}>
          Use theirs
        </button>
      </div>
    </div>
  );
}

function refuseConflict(names: readonly FieldName[]): void {
  if (names.length === 0) return;
  const words = names.map((name) => fieldWords[name]).join(" and the ");
  throw new Error(`Nothing was saved: somebody has changed the ${words} meanwhile.`);
}
