import type { WebhookEndpoint, WebhookTest, WebhookVerification } from "@bursar/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { Modal } from "../../ui/dialogs/modal";
import { SecretOnce } from "../../ui/dialogs/secret-once";
import { ActionButton } from "../../ui/forms/action-button";
import { SelectField } from "../../ui/forms/text-field";
import { Problem } from "../../ui/panels/problem";
import { ForeignLines, ForeignText } from "../../ui/values/foreign-text";
import { EndpointForm } from "./endpoint-form";

type Dialog = "verify" | "test" | "rotate" | "change" | "delete";

/** Everything that can be done to an endpoint. Changes ask for the passkey by themselves. */
export function EndpointActions({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { id, state, verified_at } = endpoint;
  const queries = useQueryClient();
  const [open, setOpen] = useState<Dialog>();
  const close = () => {
    setOpen(undefined);
    void queries.invalidateQueries({ queryKey: ["webhooks"] });
  };
  const isOn = state !== "disabled";
  const flip = useMutation({
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
      <ActionButton isPending={flip.isPending} onAct={() => flip.mutate()}>
        {isOn ? "Disable" : "Enable"}
      </ActionButton>
      {opener("delete", "Delete", "danger")}
      {open === "verify" && <Verify id={id} onClose={close} />}
      {open === "test" && <Test id={id} onClose={close} />}
      {open === "rotate" && <Rotate id={id} onClose={close} />}
      {open === "change" && <EndpointForm endpoint={endpoint} onClose={close} />}
      {open === "delete" && <Delete endpoint={endpoint} onClose={close} />}
    </>
  );
}

interface DialogProps {
  id: string;
  onClose: () => void;
}

function Close({ onClose }: Pick<DialogProps, "onClose">) {
  return (
    <button type="button" className="button" onClick={onClose}>
      Close
    </button>
  );
}

function Verify({ id, onClose }: DialogProps) {
  const verify = useMutation({ mutationFn: () => bursar.webhookEndpoints.verify(id) });
  return (
    <Modal title="Verify the receiver" onClose={onClose}>
      <p>
        The service sends a signed challenge now. The receiver answers with the challenge, and so says that it
        wants deliveries.
      </p>
      {verify.data !== undefined && <Verified result={verify.data} />}
      {verify.error !== null && <Problem error={verify.error} />}
      <div className="row">
        <ActionButton isPending={verify.isPending} tone="primary" onAct={() => verify.mutate()}>
          Send the challenge
        </ActionButton>
        <Close onClose={onClose} />
      </div>
    </Modal>
  );
}

function Verified({ result: { verified, status, error } }: { result: WebhookVerification }) {
  return (
    <div className="notice" data-tone={verified ? undefined : "bad"} role="status">
      {verified ? (
        <p>The receiver has answered. Events are sent from now on.</p>
      ) : (
        <p>
          Not verified: <ForeignText text={error ?? "no reason was given"} />
          {status !== null && ` (status ${status})`}
        </p>
      )}
    </div>
  );
}

function Test({ id, onClose }: DialogProps) {
  const test = useMutation({ mutationFn: () => bursar.webhookEndpoints.test(id) });
  return (
    <Modal title="Send a test" onClose={onClose}>
      <p>
        The service sends an <code>endpoint.test</code>, signed like every delivery, and shows the answer.
      </p>
      {test.data !== undefined && <Tested result={test.data} />}
      {test.error !== null && <Problem error={test.error} />}
      <div className="row">
        <ActionButton isPending={test.isPending} tone="primary" onAct={() => test.mutate()}>
          Send
        </ActionButton>
        <Close onClose={onClose} />
      </div>
    </Modal>
  );
}

function Tested({ result: { delivered, status, latency_ms, error, answer } }: { result: WebhookTest }) {
  return (
    <div className="notice" data-tone={delivered ? undefined : "bad"} role="status">
      <p>
        {delivered ? "Delivered" : "Not delivered"}
        {status !== null && `, status ${status}`} in {latency_ms} ms.
      </p>
      {error !== null && (
        <p>
          <ForeignText text={error} />
        </p>
      )}
      {answer !== null && answer !== "" && (
        <pre>
          <ForeignLines text={answer} />
        </pre>
      )}
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
  const [key] = useState(() => crypto.randomUUID());
  const rotate = useMutation({
    mutationFn: () =>
      bursar.webhookEndpoints.rotateSecret(id, { overlap_seconds: Number(overlap) }, { idempotencyKey: key }),
  });
  const { secret, key_id } = rotate.data ?? {};
  return (
    <Modal title="Rotate the secret" onClose={onClose}>
      {secret != null && key_id != null ? (
        <SecretOnce secret={secret} keyId={key_id} onDone={onClose} />
      ) : (
        <>
          <p>Deliveries are signed with both secrets for a while, so that receivers can change over.</p>
          <SelectField label="The old secret also signs for" value={overlap} onValue={setOverlap}>
            {overlaps.map(([seconds, name]) => (
              <option key={seconds} value={seconds}>
                {name}
              </option>
            ))}
          </SelectField>
          {rotate.error !== null && <Problem error={rotate.error} />}
          <div className="row">
            <ActionButton isPending={rotate.isPending} tone="primary" onAct={() => rotate.mutate()}>
              Rotate
            </ActionButton>
            <Close onClose={onClose} />
          </div>
        </>
      )}
    </Modal>
  );
}

function Delete({ endpoint: { id, url }, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => bursar.webhookEndpoints.delete(id),
    onSuccess: () => {
      onClose();
      void navigate({ to: "/webhooks" });
    },
  });
  return (
    <Modal title="Delete the endpoint" onClose={onClose}>
      <p>
        Nothing more is sent to <ForeignText text={url} />, and what waits for it is removed. This cannot be
        undone.
      </p>
      {remove.error !== null && <Problem error={remove.error} />}
      <div className="row">
        <ActionButton isPending={remove.isPending} tone="danger" onAct={() => remove.mutate()}>
          Delete
        </ActionButton>
        <Close onClose={onClose} />
      </div>
    </Modal>
  );
}
