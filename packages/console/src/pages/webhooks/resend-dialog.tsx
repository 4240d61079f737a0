import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { CloseRow } from "../../ui/dialogs/close-row";
import { Modal } from "../../ui/dialogs/modal";
import { ActionButton } from "../../ui/forms/action-button";
import { TextField } from "../../ui/forms/text-field";
import { useDraft } from "../../ui/forms/use-draft";
import { boundedText } from "../../ui/panels/figure-card";
import { Problem } from "../../ui/panels/problem";

interface ResendDialogProps {
  endpointId: string;
  resendable: { count: number; has_more: boolean };
  onClose: () => void;
}

/** Sends again what was given up, or every event from a sequence on. Both say beforehand how many that is. */
export function ResendDialog({ endpointId, resendable, onClose }: ResendDialogProps) {
  return (
    <Modal title="Send again" onClose={onClose}>
      <ResendFailed endpointId={endpointId} resendable={resendable} />
      <Replay endpointId={endpointId} />
      <CloseRow onClose={onClose} />
    </Modal>
  );
}

function useRefresh() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ["webhooks"] });
}

function ResendFailed({ endpointId, resendable }: Omit<ResendDialogProps, "onClose">) {
  const refresh = useRefresh();
  const [key, setKey] = useState(() => crypto.randomUUID());
  const resend = useAction({
    mutationFn: () =>
      bursar.webhookDeliveries.resendFailed({ endpoint_id: endpointId }, { idempotencyKey: key }),
    onSuccess: () => {
      setKey(crypto.randomUUID());
      void refresh();
    },
  });
  return (
    <section className="stack" aria-labelledby="resend-failed">
      <h3 id="resend-failed">What was given up</h3>
      <p>
        {resendable.count === 0
          ? "There is nothing to send again."
          : `${boundedText(resendable)} deliveries were given up and not sent again. A request sends 1000 at most.`}
      </p>
      {resend.data !== undefined && (
        <p role="status" className="notice">
          {resend.data.resent} are on their way{resend.data.has_more ? ", and there are more" : ""}.
        </p>
      )}
      {resend.error !== null && <Problem error={resend.error} />}
      <div className="row">
        <ActionButton
          isPending={resend.isPending}
          disabled={resendable.count === 0}
          onAct={() => resend.mutate()}
        >
          {resendable.count === 0 ? "Send again" : `Send ${Math.min(resendable.count, 1000)} again`}
        </ActionButton>
      </div>
    </section>
  );
}

/** A page of the log at a time; it goes on until the end that was counted, or until it is stopped. */
function Replay({ endpointId }: { endpointId: string }) {
  const refresh = useRefresh();
  const draft = useDraft(`replay.${endpointId}`, () => ({ from: "" }));
  const text = draft.value.from;
  const [key, setKey] = useState(() => crypto.randomUUID());
  const from = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
  const count = useQuery({
    queryKey: ["webhooks", "replay", endpointId, from],
    queryFn: ({ signal }) => bursar.webhookEndpoints.countReplay(endpointId, from ?? 1, { signal }),
    enabled: from !== undefined,
    staleTime: 0,
  });
  const replay = useAction({
    mutationFn: () =>
      bursar.webhookDeliveries.replay(
        { endpoint_id: endpointId, from_sequence: from ?? 1 },
        { idempotencyKey: key },
      ),
    onSuccess: ({ next_sequence }) => {
      setKey(crypto.randomUUID());
      draft.change({ from: next_sequence === null ? "" : `${next_sequence}` });
      void refresh();
    },
  });
  const counted = from === undefined ? undefined : count.data;
  return (
    <section className="stack" aria-labelledby="replay">
      <h3 id="replay">Events from a sequence on</h3>
      <TextField
        label="First sequence"
        hint="The number that an event and a delivery have in the log"
        fault={text !== "" && from === undefined ? "is not a sequence" : undefined}
        inputMode="numeric"
        autoComplete="off"
        value={text}
        onValue={(value) => draft.change({ from: value.trim() })}
      />
      {counted !== undefined && (
        <p role="status">
          {counted.count === 0
            ? "The endpoint subscribes to no event from there on."
            : `${boundedText(counted)} events would be sent, up to sequence ${counted.last_sequence}. A request covers 1000 events of the log.`}
        </p>
      )}
      {count.error !== null && <Problem error={count.error} retry={() => void count.refetch()} />}
      {replay.data !== undefined && (
        <p role="status" className="notice">
          {replay.data.resent} are on their way.
          {replay.data.next_sequence !== null && ` Go on from sequence ${replay.data.next_sequence}.`}
        </p>
      )}
      {replay.error !== null && <Problem error={replay.error} />}
      <div className="row">
        <ActionButton
          isPending={replay.isPending}
          disabled={counted === undefined || counted.count === 0}
          onAct={() => replay.mutate()}
        >
          Replay
        </ActionButton>
      </div>
    </section>
  );
}
