import type { BursarEvent } from "@bursar/client";
import { type EventSource, type Notification, type Receiver, signTestWebhook } from "@bursar/client/webhooks";

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
export async function deliver(
  receiver: Receiver,
  body: Notification,
  epoch = "epo_1",
  nowMs = Date.now(),
): Promise<number> {
  const { headers, rawBody } = await signTestWebhook({ body, secrets: [secret], nowMs });
  return (await receiver.receive({ headers: { ...headers, "webhook-epoch": epoch }, rawBody })).status;
}

/** The log of a service, in pages of two, as a client reads it. */
export function logOf(log: readonly BursarEvent[], epoch = "epo_1"): EventSource {
  const latest_sequence = log.at(-1)?.sequence ?? 0;
  return {
    events: {
      list: ({ after = 0, kinds }) => ({
        pages: async function* () {
          const rest = log.filter(({ sequence }) => sequence > after);
          for (let at = 0; at === 0 || at < rest.length; at += 2) {
            const page = rest.slice(at, at + 2);
            const data = page.filter(({ event }) => kinds === undefined || kinds.includes(event));
            const scanned_to = page.at(-1)?.sequence ?? after;
            yield { epoch, latest_sequence, scanned_to, has_more: at + 2 < rest.length, data };
          }
        },
      }),
    },
  };
}
