import type { WebhookDelivery, WebhookEndpoint } from "@bursar/protocol";
import { eventually } from "../eventually.js";
import type { BlackBoxService } from "../service/test-service.js";
import { transactionsOf } from "../transactions/transactions-client.js";

/** What a client of the webhooks API does, for one token. */
export function webhooksOf(service: BlackBoxService, token: string) {
  const api = transactionsOf(service, token);
  const send = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const { status, body: answer, headers: answered } = await api.send(method, path, body, headers);
    // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect.
    return { status, headers: answered, body: answer as any };
  };
  /** An endpoint that is pending. */
  const registerEndpoint = async (
    url: string,
    events?: string[],
  ): Promise<WebhookEndpoint & { secret: string; key_id: string }> => {
    const wanted = { url, ...(events === undefined ? {} : { events }) };
    const { status, body } = await send("POST", "/v1/webhook-endpoints", wanted);
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body;
  };
  const readDelivery = async (id: string): Promise<WebhookDelivery> =>
    (await send("GET", `/v1/webhook-deliveries/${id}`)).body;
  return {
    send,
    api,
    registerEndpoint,
    /** An endpoint whose receiver has answered its challenge. */
    createEndpoint: async (
      url: string,
      events?: string[],
    ): Promise<WebhookEndpoint & { secret: string; keyId: string }> => {
      const body = await registerEndpoint(url, events);
      const verification = await send("POST", `/v1/webhook-endpoints/${body.id}/verify`);
      if (!verification.body.verified) throw new Error(JSON.stringify(verification.body));
      return { ...verification.body.webhook_endpoint, secret: body.secret, keyId: body.key_id };
    },
    readEndpoint: async (id: string): Promise<WebhookEndpoint> =>
      (await send("GET", `/v1/webhook-endpoints/${id}`)).body,
    /** One transaction, which is one event. */
    transact: async (amount = "1") =>
      (await api.create({ reference: "webhook", asset: "USD", amount })).body.id,
    list: async (query = ""): Promise<WebhookDelivery[]> =>
      (await send("GET", `/v1/webhook-deliveries?${query}`)).body.data,
    readDelivery,
    /** A delivery, once it is in this state. */
    deliveryIn: (state: string, id: string) =>
      eventually(
        () => readDelivery(id),
        (delivery) => delivery.state === state,
      ),
  };
}
