import type { WebhookEndpoint } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { SecretOnce } from "../../ui/dialogs/secret-once";
import { faultOf } from "../../ui/forms/fault-of";
import { TextField } from "../../ui/forms/text-field";
import { useDraft } from "../../ui/forms/use-draft";
import { kinds } from "../events/event-rows";

type Kind = WebhookEndpoint["events"][number];

interface Draft {
  key: string;
  url: string;
  description: string;
  events: readonly Kind[];
}

/** Creates an endpoint, or changes one. What was typed survives a reload; a new URL has a new secret, and so has one that the person vouches for. */
export function EndpointForm({ endpoint, onClose }: { endpoint?: WebhookEndpoint; onClose: () => void }) {
  const queries = useQueryClient();
  const {
    value: draft,
    change,
    clear,
  } = useDraft<Draft>(`webhook-${endpoint?.id ?? "new"}`, () => ({
    key: crypto.randomUUID(),
    url: endpoint?.url ?? "",
    description: endpoint?.description ?? "",
    events: endpoint?.events ?? ["*"],
  }));
  const [isTaken, setTaken] = useState(false);
  const [shown, setShown] = useState<{ secret: string; keyId: string }>();
  const save = useAction({
    mutationFn: () => send(draft, isTaken, endpoint),
    onSuccess: ({ secret, key_id }) => {
      clear();
      void queries.invalidateQueries({ queryKey: ["webhooks"] });
      if (secret === null || key_id === null) onClose();
      else setShown({ secret, keyId: key_id });
    },
  });
  const isAll = draft.events.includes("*");
  const toggle = (kind: Kind) =>
    change({
      events: draft.events.includes(kind)
        ? draft.events.filter((one) => one !== kind)
        : [...draft.events.filter((one) => one !== "*"), kind],
    });
  const title = endpoint === undefined ? "New endpoint" : "Change the endpoint";
  if (shown !== undefined) return <SecretOnce title={title} {...shown} onDone={onClose} />;
  return (
    <Confirm
      title={title}
      verb={endpoint === undefined ? "Create with the passkey" : "Save with the passkey"}
      mutation={save}
      isReady={draft.url !== "" && draft.events.length > 0}
      onConfirm={save.mutate}
      onClose={onClose}
    >
      <TextField
        label="URL"
        hint="The https address of your receiver; the sandbox also takes http on this machine. It is asked to answer a challenge before anything is sent."
        fault={faultOf(save.error, "url")}
        inputMode="url"
        autoComplete="off"
        maxLength={2048}
        value={draft.url}
        onValue={(url) => change({ url: url.trim() })}
      />
      <TextField
        label="Description"
        fault={faultOf(save.error, "description")}
        maxLength={256}
        value={draft.description}
        onValue={(description) => change({ description })}
      />
      <fieldset className="checks">
        <legend>Events</legend>
        <label>
          <input type="checkbox" checked={isAll} onChange={() => change({ events: isAll ? [] : ["*"] })} />{" "}
          all, also future kinds
        </label>
        {kinds.map((kind) => (
          <label key={kind}>
            <input
              type="checkbox"
              disabled={isAll}
              checked={isAll || draft.events.includes(kind)}
              onChange={() => toggle(kind)}
            />{" "}
            {kind}
          </label>
        ))}
      </fieldset>
      {endpoint !== undefined && draft.url === endpoint.url && (
        <label>
          <input type="checkbox" checked={isTaken} onChange={() => setTaken(!isTaken)} /> let it act for me: I
          know that this URL is ours. If it acts for another client, it gets a new secret.
        </label>
      )}
      {endpoint !== undefined && draft.url !== endpoint.url && (
        <p className="notice" data-tone="wait">
          Another URL gets a new secret and must answer a challenge before anything is sent to it.
        </p>
      )}
    </Confirm>
  );
}

function send(
  { key, url, description, events }: Draft,
  isTaken: boolean,
  endpoint: WebhookEndpoint | undefined,
): Promise<{ secret: string | null; key_id: string | null }> {
  const wanted = [...events];
  if (endpoint === undefined)
    return bursar.webhookEndpoints.create(
      { url, events: wanted, ...(description === "" ? {} : { description }) },
      { idempotencyKey: key },
    );
  return bursar.webhookEndpoints.change(endpoint.id, {
    ...(url === endpoint.url && !isTaken ? {} : { url }),
    events: wanted,
    description: description === "" ? null : description,
  });
}
