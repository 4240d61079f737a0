import type { WebhookEndpoint, WebhookTest, WebhookVerification } from "@bursar/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { Confirm } from "../../ui/dialogs/confirm";
import { SecretOnce } from "../../ui/dialogs/secret-once";
import { ActionButton } from "../../ui/forms/action-button";
import { SelectField } from "../../ui/forms/text-field";
import { Problem } from "../../ui/panels/problem";
import { ForeignText } from "../../ui/values/foreign-text";
import { Answer } from "./answer";
import { ChangeEndpoint } from "./change-endpoint";
import { LostSecret } from "./lost-secret";

type Dialog = "verify" | "test" | "rotate" | "change" | "delete";

/** Everything that can be done to an endpoint. Changes ask for the passkey by themselves. */
export function EndpointActions({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { id, state, verified_at, disabled_reason } = endpoint;
  const queries = useQueryClient();
  const [open, setOpen] = useState<Dialog>();
  const close = () => {
    setOpen(undefined);
    void queries.invalidateQueries({ queryKey: ["webhooks"] });
  };
  const isOn = state !== "disabled";
  const flip = useAction({
    mutationFn: () => (isOn ? bursar.webhookEndpoints.disable(id) : bursar.webhookEndpoints.enable(id)),
    onSettled: close,
  });
  const opener = (dialog: Dialog, label: string, tone?: "danger" | "primary") => (
    <button type="button" className="button" data-tone={tone} onClick={() => setOpen(dialog)}>
      {label}
    </button>
  );
  return (
    <>
      {flip.error !== null && <Problem error={flip.error} />}
      {verified_at === null ? opener("verify", "Verify", "primary") : opener("test", "Send a test")}
      {opener("change", "Change")}
      {opener("rotate", "Rotate the secret")}
      {/* The client is enabled then, and not the endpoint. */}
      {disabled_reason !== "client_disabled" && (
        <ActionButton isPending={flip.isPending} onAct={() => flip.mutate()}>
          {isOn ? "Disable" : "Enable"} with the passkey
        </ActionButton>
      )}
      {opener("delete", "Delete", "danger")}
      {open === "verify" && <Verify id={id} onClose={close} />}
      {open === "test" && <Test id={id} onClose={close} />}
      {open === "rotate" && <Rotate id={id} onClose={close} />}
      {open === "change" && <ChangeEndpoint endpoint={endpoint} onClose={close} />}
      {open === "delete" && <Delete endpoint={endpoint} onClose={close} />}
    </>
  );
}

interface DialogProps {
  id: string;
  onClose: () => void;
}

function Verify({ id, onClose }: DialogProps) {
  const verify = useAction({ mutationFn: () => bursar.webhookEndpoints.verify(id) });
  return (
    <Confirm
      title="Verify the receiver"
      verb="Send the challenge"
      closeVerb="Close"
      mutation={verify}
      onConfirm={verify.mutate}
      onClose={onClose}
    >
      <p>
        The service sends a signed challenge now. The receiver answers with the challenge, and so says that it
        wants deliveries.
      </p>
      {verify.data !== undefined && <Verified result={verify.data} />}
    </Confirm>
  );
}

function Verified({ result: { verified, status, error } }: { result: WebhookVerification }) {
  return (
    <div className="notice" data-tone={verified ? undefined : "bad"} role="status">
      {verified ? (
        <p>The receiver has answered. Events are sent from now on.</p>
      ) : (
        <p>
          Not verified: <ForeignText text={error ?? `status ${status}`} />
        </p>
      )}
    </div>
  );
}

function Test({ id, onClose }: DialogProps) {
  const test = useAction({ mutationFn: () => bursar.webhookEndpoints.test(id) });
  return (
    <Confirm
      title="Send a test"
      verb="Send"
      closeVerb="Close"
      mutation={test}
      onConfirm={test.mutate}
      onClose={onClose}
    >
      <p>
        The service sends an <code>endpoint.test</code>, signed like every delivery, and shows the answer.
      </p>
      {test.data !== undefined && <Tested result={test.data} />}
    </Confirm>
  );
}

function Tested({ result: { delivered, status, latency_ms, error, answer } }: { result: WebhookTest }) {
  return (
    <div className="notice" data-tone={delivered ? undefined : "bad"} role="status">
      <p>
        {delivered ? "Delivered" : "Not delivered"}
        {status !== null && `, status ${status}`} in {latency_ms} ms.
      </p>
      <Answer error={error} answer={answer} />
    </div>
  );
}

const overlaps = [
  ["3600", "1 hour"],
  ["86400", "1 day"],
  ["604800", "7 days"],
  ["0", "not at all: the old secret ends now"],
] as const;

function Rotate({ id, onClose }: DialogProps) {
  const [overlap, setOverlap] = useState("86400");
  const [key, setKey] = useState(() => crypto.randomUUID());
  const rotate = useAction({
    mutationFn: ({ seconds, idempotencyKey }: { seconds: number; idempotencyKey: string }) =>
      bursar.webhookEndpoints.rotateSecret(id, { overlap_seconds: seconds }, { idempotencyKey }),
  });
  const renewKey = () => setKey(crypto.randomUUID());
  const { secret, key_id } = rotate.data ?? {};
  if (secret != null && key_id != null)
    return <SecretOnce title="Rotate the secret" secret={secret} keyId={key_id} onDone={onClose} />;
  if (rotate.data !== undefined)
    return (
      <LostSecret
        title="Rotate the secret"
        what="The secret was rotated by an attempt whose answer was lost."
        advice="Rotate it once more to get a secret that is shown. Nobody has the one in between."
        action={
          <button
            type="button"
            className="button"
            data-tone="primary"
            onClick={() => {
              renewKey();
              rotate.reset();
            }}
          >
            Rotate once more
          </button>
        }
        onClose={onClose}
      />
    );
  return (
    <Confirm
      title="Rotate the secret"
      verb="Rotate with the passkey"
      mutation={rotate}
      onConfirm={() => rotate.mutate({ seconds: Number(overlap), idempotencyKey: key })}
      onClose={onClose}
    >
      <p>Deliveries are signed with both secrets for a while, so that receivers can change over.</p>
      <SelectField
        label="The old secret also signs for"
        value={overlap}
        onValue={(seconds) => {
          setOverlap(seconds);
          renewKey();
        }}
      >
        {overlaps.map(([seconds, name]) => (
          <option key={seconds} value={seconds}>
            {name}
          </option>
        ))}
      </SelectField>
    </Confirm>
  );
}

function Delete({ endpoint: { id, url }, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
  const navigate = useNavigate();
  const remove = useAction({
    mutationFn: () => bursar.webhookEndpoints.delete(id),
    onSuccess: () => {
      onClose();
      void navigate({ to: "/webhooks" });
    },
  });
  return (
    <Confirm
      title="Delete the endpoint"
      verb="Delete with the passkey"
      tone="danger"
      mutation={remove}
      onConfirm={remove.mutate}
      onClose={onClose}
    >
      <p>
        Nothing more is sent to <ForeignText text={url} />, and what waits for it is removed. This cannot be
        undone.
      </p>
    </Confirm>
  );
}
