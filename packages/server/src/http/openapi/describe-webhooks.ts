import {
  type EventKind,
  eventKindDescriptions,
  exampleIds,
  WebhookBody,
  WebhookChallenge,
  WebhookChallengeAnswer,
  WebhookTestBody,
} from "@bursar/protocol";
import type { TSchema } from "typebox";
import type { DocumentParts } from "./describe-operation.js";

/** The requests that the service sends to webhook endpoints, as the `webhooks` of OpenAPI 3.1. */
export function describeWebhooks(parts: DocumentParts): Record<string, object> {
  const events = Object.entries(eventKindDescriptions).map(([kind, summary]) => [
    kind,
    webhook(parts, {
      kind,
      summary,
      description: "Signed, and retried for nearly three days until the receiver answers with a 2xx status.",
      schema: WebhookBody,
      variants: [kind as EventKind],
      answers: deliveryAnswers,
    }),
  ]);
  return Object.fromEntries([
    ...events,
    [
      "endpoint.challenge",
      webhook(parts, {
        kind: "endpoint.challenge",
        summary: "Asks a receiver whether it wants deliveries.",
        description:
          "Sent to a new endpoint, to a new URL, and by `POST /v1/webhook-endpoints/{id}/verify`. Nothing else is sent until the receiver has answered one. It is not an event of the log.",
        schema: WebhookChallenge,
        answers: {
          200: {
            description: "The challenge of the request, as a JSON object or as the body itself.",
            content: {
              "application/json": {
                schema: parts.reference(WebhookChallengeAnswer),
                ...parts.examples.ofSchema(WebhookChallengeAnswer),
              },
            },
          },
          "4XX": { description: "The receiver does not want deliveries." },
        },
      }),
    ],
    [
      "endpoint.test",
      webhook(parts, {
        kind: "endpoint.test",
        summary: "A test that a client asked for.",
        description:
          "Sent by `POST /v1/webhook-endpoints/{id}/test`, which returns the receiver's response. It is not an event of the log and is not retried.",
        schema: WebhookTestBody,
        answers: {
          "2XX": { description: "The test has arrived." },
          "4XX": { description: "The test was refused." },
        },
      }),
    ],
  ]);
}

interface Described {
  kind: string;
  summary: string;
  description: string;
  schema: TSchema;
  variants?: readonly string[];
  answers: Record<string, object>;
}

function webhook(parts: DocumentParts, { kind, summary, description, schema, variants, answers }: Described) {
  return {
    post: {
      operationId: `receive${kind.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
      tags: ["Webhooks"],
      summary,
      description,
      parameters: deliveryHeaders,
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: parts.reference(schema),
            ...parts.examples.ofSchema(schema, variants),
          },
        },
      },
      responses: answers,
      // A receiver authenticates the request by its signature.
      security: [],
    },
  };
}

const deliveryAnswers = {
  "2XX": { description: "The delivery has been stored; it is not sent again." },
  "3XX": { description: "A failure like others: redirects are not followed." },
  410: { description: "The receiver is gone: the endpoint is disabled." },
  "4XX": { description: "The delivery is retried later, at the time in `Retry-After` if that is given." },
  "5XX": { description: "The delivery is retried later, at the time in `Retry-After` if that is given." },
};

const header = (name: string, description: string, example: string, required = true) => ({
  name,
  in: "header",
  required,
  description,
  schema: { type: "string" },
  example,
});

const components = '("content-digest" "webhook-id" "webhook-timestamp")';

const deliveryHeaders = [
  header(
    "webhook-id",
    "The `delivery_id`, the same for every attempt: ignore one that was handled.",
    exampleIds.delivery,
  ),
  header("webhook-timestamp", "The time of the attempt, in seconds since 1970.", "1794821400"),
  header(
    "webhook-signature",
    "The signatures of Standard Webhooks, separated by spaces: two while a secret is being replaced.",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
  header("webhook-attempt", "The number of the attempt, starting at 1.", "1"),
  header(
    "webhook-epoch",
    "The epoch of the database, which gives the `sequence` its meaning.",
    exampleIds.epoch,
    false,
  ),
  header(
    "content-digest",
    "The SHA-256 of the body (RFC 9530).",
    "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:",
  ),
  header(
    "signature-input",
    "What the signature of RFC 9421 covers, and its `keyid`.",
    `sig1=${components};created=1794821400;keyid="whk_9f1c2b3a4d5e6f70";alg="hmac-sha256"`,
  ),
  header("signature", "The signature of RFC 9421.", "sig1=:K2qGT5srn2OGbOIDzQ6kYT+ruaycnDAAUpKv+ePFfD0=:"),
  header(
    "traceparent",
    "The trace of the delivery (W3C Trace Context).",
    "00-019d0f612be07e8e9aa4c3c3ecab8ea1-c3c3ecab8ea10001-01",
  ),
];
