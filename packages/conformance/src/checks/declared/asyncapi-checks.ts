import { type Document, findDocument, resolve } from "../../documents/find-document.js";
import { createSchemaValidator, SchemaFault } from "../../documents/schema-validator.js";
import { declaredCheck, expect, fail } from "../../engine/check.js";
import { isObject } from "../../http/reply.js";
import { followed } from "../stream-scenarios.js";

const source = "The target's AsyncAPI document";
const document = "declared.asyncapi.document";

/** The payloads of the messages that the service sends. */
function sentPayloads(own: Document): unknown[] {
  const operations = isObject(own["operations"]) ? Object.values(own["operations"]) : [];
  return operations.filter(isObject).flatMap(({ action, messages, channel }) => {
    if (action !== "send") return [];
    const all = resolve(own, channel);
    const ofChannel = isObject(all) && isObject(all["messages"]) ? Object.values(all["messages"]) : [];
    const list = Array.isArray(messages) ? messages : ofChannel;
    return list
      .map((message) => resolve(own, message))
      .filter(isObject)
      .flatMap(({ payload }) => (payload === undefined ? [] : [payload]));
  });
}

/** What the target's own document says about its stream. */
export const asyncapiChecks = [
  declaredCheck(
    document,
    source,
    "The document can be read, and has messages that the service sends.",
    {},
    async (kit) => {
      const payloads = sentPayloads(await findDocument(kit, "asyncapi"));
      expect(payloads.length > 0, "messages of operations with the action send", "none");
    },
  ),
  declaredCheck(
    "declared.stream.messages",
    source,
    "Every message of the stream matches one that the document declares.",
    { needs: [document, "stream.complete"], writes: ["transaction"] },
    async (kit) => {
      const own = await findDocument(kit, "asyncapi");
      const validate = createSchemaValidator(own);
      const payloads = sentPayloads(own);
      try {
        for (const message of (await followed(kit)).messages)
          expect(
            payloads.some((payload) => validate(payload, message) === undefined),
            "messages that the document declares",
            JSON.stringify(message)?.slice(0, 300) ?? "a message that is not JSON",
          );
      } catch (error) {
        if (!(error instanceof SchemaFault)) throw error;
        fail("schemas of messages that can be evaluated", error.message);
      }
    },
  ),
];
