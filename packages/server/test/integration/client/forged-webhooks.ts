import { type Notification, signTestWebhook, type WebhookFault } from "@bursar/client/webhooks";

/** A request to a receiver. */
export interface SentWebhook {
  headers: Record<string, string>;
  rawBody: string;
}

/** The delivery of one change of a transaction of its own. */
export function notificationOf(sequence: number): Notification {
  return {
    event: "transaction.updated",
    delivery_id: `dlv_${sequence}`,
    sequence,
    occurred_at: "2026-11-16T00:00:00Z",
    actor: { type: "service", client_id: null },
    data: { transaction: { id: `tx_${sequence}`, version: 2 }, previous_state: "accepted" },
  } as unknown as Notification;
}

const otherSecret = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
const tenMinutes = 600_000;

function without({ headers, rawBody }: SentWebhook, ...names: string[]): SentWebhook {
  const kept = Object.entries(headers).filter(([name]) => !names.includes(name));
  return { headers: Object.fromEntries(kept), rawBody };
}

type Forge = (secret: string, body: Notification) => Promise<SentWebhook>;

const signed =
  (change: (sent: SentWebhook) => SentWebhook): Forge =>
  async (secret, body) =>
    change(await signTestWebhook({ body, secrets: [secret] }));

/** What a forger or a faulty line can do to a delivery, with the reason for which it must be refused. */
const forgeries: [reason: WebhookFault, forge: Forge][] = [
  [
    "no_matching_signature",
    signed((sent) => ({ ...sent, rawBody: sent.rawBody.replace("accepted", "rejected") })),
  ],
  ["no_matching_signature", signed((sent) => ({ ...sent, rawBody: sent.rawBody.slice(0, -20) }))],
  ["no_matching_signature", (_secret, body) => signTestWebhook({ body, secrets: [otherSecret] })],
  [
    "no_matching_signature",
    signed((sent) => ({ ...sent, headers: { ...sent.headers, "webhook-id": "dlv_other" } })),
  ],
  [
    "no_matching_signature",
    signed(({ headers, rawBody }) =>
      without({ headers: { ...headers, "webhook-signature": "v1,AAAA v2,AAAA" }, rawBody }, "signature"),
    ),
  ],
  ["too_old", (secret, body) => signTestWebhook({ body, secrets: [secret], nowMs: Date.now() - tenMinutes })],
  [
    "from_the_future",
    (secret, body) => signTestWebhook({ body, secrets: [secret], nowMs: Date.now() + tenMinutes }),
  ],
  ["missing_header", signed((sent) => without(sent, "webhook-id"))],
  ["missing_header", signed((sent) => without(sent, "webhook-signature", "signature"))],
  [
    "malformed",
    signed((sent) => ({ ...sent, headers: { ...sent.headers, "webhook-timestamp": "yesterday" } })),
  ],
  [
    "malformed",
    // It is genuine, and not a webhook.
    (secret, { delivery_id }) =>
      signTestWebhook({
        body: { event: "transaction.updated", delivery_id } as Notification,
        secrets: [secret],
      }),
  ],
];

/** The forgery with this number; all kinds come in turn. */
export async function forge(
  number: number,
  secret: string,
  sequence: number,
): Promise<SentWebhook & { reason: WebhookFault }> {
  const [reason, make] = forgeries[number % forgeries.length] as (typeof forgeries)[number];
  return { reason, ...(await make(secret, notificationOf(sequence))) };
}
