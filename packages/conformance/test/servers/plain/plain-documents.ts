import type { Has, PlainAnswer } from "./plain-server.js";

const json = (schema: object) => ({ content: { "application/json": { schema } } });
const transaction = { $ref: "#/components/schemas/Transaction" };

/** What the Plain server says about itself, at the usual places; undefined for other paths. */
export function answerDocuments(path: string, has: Has): PlainAnswer | undefined {
  if (path === "/openapi.json")
    return { status: 200, body: has("openapi-malformed") ? '{"openapi": "3.1.0", ' : openapi(has) };
  if (path === "/asyncapi.json")
    return { status: 200, body: has("asyncapi-malformed") ? { asyncapi: "3.0.0" } : asyncapi };
  return undefined;
}

const refusal = (description: string) => ({ description, ...json({ $ref: "#/components/schemas/Error" }) });

function openapi(has: Has): object {
  const created = has("openapi-other-status") ? "201" : "202";
  const reference = has("openapi-dangling-reference") ? "#/components/schemas/Missing" : transaction.$ref;
  return {
    openapi: "3.1.0",
    info: { title: "Plain", version: "1" },
    paths: {
      "/v1/transactions": {
        post: {
          parameters: [
            { name: "Idempotency-Key", in: "header", required: !has("openapi-key-optional"), schema: {} },
          ],
          responses: {
            [created]: { description: "Accepted.", ...json({ $ref: reference }) },
            400: refusal("`IDEMPOTENCY_KEY_REQUIRED`, `INVALID_REQUEST` or `MALFORMED_JSON`."),
            401: refusal("`UNAUTHENTICATED`."),
            403: refusal("`POLICY_REJECTED`."),
            409: refusal("The key is in use."),
            415: refusal("`UNSUPPORTED_MEDIA_TYPE`."),
            422: refusal("`KEY_REUSED`."),
            500: refusal("A mistake of the server."),
          },
        },
      },
      "/v1/transactions/{transaction}": {
        get: {
          responses: {
            200: { description: "The transaction.", ...json(transaction) },
            "4XX": refusal("`TRANSACTION_NOT_FOUND`."),
          },
        },
      },
      ...(has("openapi-lacks-operation")
        ? {}
        : { "/v1/wallets": { post: { responses: { 202: { description: "Accepted.", ...json(wallet) } } } } }),
      "/v1/orderbook": { get: { responses: { 200: { description: "The book.", ...json(book) } } } },
    },
    webhooks: {
      "transaction.updated": {
        post: {
          parameters: [{ name: "Plain-Attempt", in: "header", required: true, schema: {} }],
          requestBody: json({ type: "object", required: ["occurred_at"] }),
          responses: { default: { description: "Any." } },
        },
      },
    },
    components: { schemas: { Transaction: transactionSchema, Error: errorSchema } },
  };
}

const wallet = { type: "object", required: ["label"], properties: { label: { type: "string" } } };
const book = { type: "object", properties: { market: { type: "string" } } };
const transactionSchema = {
  type: "object",
  required: ["created_at"],
  properties: { created_at: { type: "string", format: "date-time" } },
};
const errorSchema = {
  type: "object",
  properties: {
    error: { type: "object", required: ["retryable"], properties: { retryable: { type: "boolean" } } },
  },
};

const message = (type: string, members: Record<string, object>) => ({
  payload: {
    type: "object",
    required: ["type", ...Object.keys(members)],
    properties: { type: { const: type }, ...members },
  },
});

const asyncapi = {
  asyncapi: "3.0.0",
  info: { title: "Plain", version: "1" },
  channels: {
    stream: {
      address: "/v1/stream",
      messages: {
        hello: message("hello", { version: { type: "string" } }),
        subscribed: message("subscribed", { recovered: { type: "boolean" } }),
        event: message("event", { sequence: { type: "integer" } }),
        error: message("error", { error: { type: "object" } }),
      },
    },
  },
  operations: { send: { action: "send", channel: { $ref: "#/channels/stream" } } },
};
