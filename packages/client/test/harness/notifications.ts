import { type Notification, type Receiver, signTestWebhook } from "@bursar/client/webhooks";

export const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** The delivery of one change of a transaction. */
export function notification(
  sequence: number,
  subject = `tx_${sequence}`,
  version = 2,
  id = `dlv_${sequence}`,
) {
  return {
    event: "transaction.updated",
    delivery_id: id,
    sequence,
    occurred_at: "2026-11-16T00:00:00Z",
    actor: { type: "service", client_id: null },
    data: { transaction: { id: subject, version, state: "completed" }, previous_state: "accepted" },
  } as unknown as Notification;
}

/** Signs a body and gives it to a receiver; returns the status. */
export async function deliver(receiver: Receiver, body: Notification, epoch = "epo_1"): Promise<number> {
  const { headers, rawBody } = await signTestWebhook({ body, secrets: [secret] });
  return (await receiver.receive({ headers: { ...headers, "webhook-epoch": epoch }, rawBody })).status;
}
