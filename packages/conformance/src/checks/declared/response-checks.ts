import {
  findOperation,
  findResponse,
  findWebhook,
  listCodes,
  listParameters,
  listStatuses,
  schemaOf,
} from "../../documents/openapi.js";
import { SchemaFault } from "../../documents/schema-validator.js";
import { type Check, declaredCheck, expect, fail, NotOffered } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { describeReply, errorOf, isObject, isRefusal, type Reply } from "../../http/reply.js";
import type { Delivery } from "../../webhooks/receiver.js";
import { withoutToken } from "../access-checks.js";
import { malformedBody } from "../body-checks.js";
import { acceptedWallet, book } from "../endpoint-checks.js";
import { numberAmount, withoutKey } from "../keys/key-scenarios.js";
import { sharedTransaction, showTransaction } from "../scenarios.js";
import { unknownTransaction } from "../transaction-checks.js";
import { announced } from "../webhooks/webhook-scenarios.js";
import { openapi, openapiValidator } from "./openapi-checks.js";

const source = "The target's OpenAPI document";
const schemas = "declared.openapi.schemas";
const writes = ["transaction"] as const;

interface Answered {
  readonly method: string;
  readonly path: string;
  readonly reply: Reply;
}

/** Successes of the contract's operations, each with the check that shows that it is one. */
const successes: readonly {
  name: string;
  method: string;
  path: string;
  needs: string;
  make: (kit: Kit) => Promise<Reply>;
}[] = [
  {
    name: "create",
    method: "POST",
    path: "/v1/transactions",
    needs: "tx.create.id",
    make: async (kit) => (await sharedTransaction(kit)).reply,
  },
  {
    name: "get",
    method: "GET",
    path: "/v1/transactions/{id}",
    needs: "tx.get.state",
    make: async (kit) => showTransaction(kit, (await sharedTransaction(kit)).id),
  },
  {
    name: "wallet",
    method: "POST",
    path: "/v1/wallets",
    needs: "wallet.create.accepted",
    make: acceptedWallet,
  },
  { name: "book", method: "GET", path: "/v1/orderbook", needs: "book.snapshot", make: book },
];

const successChecks: readonly Check[] = successes.map(({ name, method, path, needs, make }) =>
  declaredCheck(
    `declared.${name}.schema`,
    `${source}: ${method} ${path}`,
    `The response to ${method} ${path} matches its schema.`,
    { needs: [schemas, needs], writes },
    async (kit) => expectSchema(kit, { method, path, reply: await make(kit) }),
  ),
);

/** Refusals, as far as the target refuses: the checks of the contract say whether it must. */
async function refusals(kit: Kit): Promise<Answered[]> {
  const create = { method: "POST", path: "/v1/transactions" };
  const all: Answered[] = [
    { ...create, reply: (await withoutKey(kit)).reply },
    { ...create, reply: (await numberAmount(kit)).reply },
    { ...create, reply: (await withoutToken(kit)).reply },
    { ...create, reply: (await malformedBody(kit)).reply },
    { method: "GET", path: "/v1/transactions/{id}", reply: (await unknownTransaction(kit)).reply },
  ];
  return all.filter(({ reply }) => isRefusal(reply) && reply.status >= 400);
}

async function declaredResponse(kit: Kit, { method, path, reply }: Answered) {
  const document = await openapi(kit);
  const operation = findOperation(document, method, path) ?? {};
  return { document, operation, response: findResponse(document, operation, reply.status) };
}

async function expectSchema(kit: Kit, answered: Answered): Promise<void> {
  const { document, response } = await declaredResponse(kit, answered);
  const schema = response === undefined ? undefined : schemaOf(document, response);
  if (schema === undefined) return;
  const { method, path, reply } = answered;
  await expectMatch(kit, schema, reply.json, `${reply.status} of ${method} ${path}`, describeReply(reply));
}

async function expectMatch(
  kit: Kit,
  schema: unknown,
  value: unknown,
  what: string,
  shown: string,
): Promise<void> {
  const validate = await openapiValidator(kit);
  try {
    const fault = value === undefined ? "the body is not JSON" : validate(schema, value);
    if (fault !== undefined) fail(`a body that matches the schema of ${what}`, `${fault}, in ${shown}`);
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    fail(`a schema of ${what} that can be evaluated`, error.message);
  }
}

const errorRow = {
  needs: [schemas, "error.object", "error.status", "tx.get.unknown"],
  unlessFailed: ["no-token", "unknown-id", "malformed-json", "number-amount"].map(
    (kind) => `error.${kind}.object`,
  ),
  writes,
};
const errorStatus = "declared.error.status";

const refusalChecks = [
  declaredCheck(
    errorStatus,
    source,
    "A refusal has a status that the document lists for its operation.",
    errorRow,
    async (kit) => {
      for (const answered of await refusals(kit)) {
        const { operation, response } = await declaredResponse(kit, answered);
        const { method, path, reply } = answered;
        expect(
          response !== undefined,
          `one of the statuses that the document lists for ${method} ${path}: ${listStatuses(operation)}`,
          describeReply(reply),
        );
      }
    },
  ),
  declaredCheck(
    "declared.error.schema",
    source,
    "The body of a refusal matches its schema.",
    { ...errorRow, needs: [...errorRow.needs, errorStatus, "error.request-id.string", "error.message"] },
    async (kit) => {
      for (const answered of await refusals(kit)) await expectSchema(kit, answered);
    },
  ),
  declaredCheck(
    "declared.error.code",
    source,
    "A refusal has an error code that the document lists for its status.",
    {
      ...errorRow,
      needs: [...errorRow.needs, errorStatus, "error.code.stable"],
      unlessFailed: [...errorRow.unlessFailed, "policy.code.alone"],
    },
    async (kit) => {
      let listed = 0;
      for (const answered of await refusals(kit)) {
        const { document, response } = await declaredResponse(kit, answered);
        const codes = response === undefined ? undefined : listCodes(document, response);
        const code = errorOf(answered.reply)?.["code"];
        if (codes === undefined || typeof code !== "string") continue;
        listed += 1;
        expect(
          codes.has(code),
          `one of the codes that the document lists for ${answered.reply.status} of ${answered.method} ${answered.path}: ${[...codes].join(", ")}`,
          `the code ${code}`,
        );
      }
      if (listed === 0) throw new NotOffered("The document lists no error codes.");
    },
  ),
];

const webhookName = "transaction.updated";

async function declaredWebhook(kit: Kit) {
  const document = await openapi(kit);
  const webhook = findWebhook(document, webhookName);
  if (webhook === undefined)
    throw new NotOffered(`The document does not describe the webhook ${webhookName}.`);
  return { document, webhook };
}

const headerOf = ({ headers }: Delivery, name: string) =>
  headers.find(([own]) => own.toLowerCase() === name.toLowerCase())?.[1];

const notificationChecks = [
  declaredCheck(
    "declared.webhook.schema",
    source,
    "The body of a notification matches its schema.",
    {
      needs: [schemas, "webhook.each"],
      unlessFailed: ["webhook.event"],
      writes: ["transaction", "webhook endpoint"],
    },
    async (kit) => {
      const { document, webhook } = await declaredWebhook(kit);
      const body = webhook["requestBody"];
      const schema = isObject(body) ? schemaOf(document, body) : undefined;
      if (schema === undefined) throw new NotOffered("The document has no schema for it.");
      for (const { json, body: bytes } of (await announced(kit)).deliveries)
        await expectMatch(
          kit,
          schema,
          json,
          `the webhook ${webhookName}`,
          bytes.toString("utf8").slice(0, 200),
        );
    },
  ),
  declaredCheck(
    "declared.webhook.headers",
    source,
    "A notification has the headers that the document declares as required.",
    { needs: [schemas, "webhook.each"], writes: ["transaction", "webhook endpoint"] },
    async (kit) => {
      const { document, webhook } = await declaredWebhook(kit);
      const required = listParameters(document, webhook)
        .filter((one) => one["in"] === "header" && one["required"] === true)
        .map((one) => String(one["name"]));
      for (const delivery of (await announced(kit)).deliveries)
        for (const name of required)
          expect(
            headerOf(delivery, name) !== undefined,
            `the header ${name}, which is declared as required`,
            "none",
          );
    },
  ),
];

/** What the target's own document says about its responses and its notifications. */
export const responseChecks: readonly Check[] = [...successChecks, ...refusalChecks, ...notificationChecks];
