import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../files.mjs";
import { findBreakingChanges } from "./breaking-changes.mjs";

// biome-ignore lint/suspicious/noExplicitAny: the test edits parts of the document whose structure only it knows.
type Json = Record<string, any>;

const read = (path: string): Json => JSON.parse(readFileSync(join(root, path), "utf8"));
const released = read("openapi.json");

/** Compares the current document, as the released one, with a copy that has one change. */
function breakingChangesAfter(change: (document: Json) => void): string[] {
  const changed = structuredClone(released);
  change(changed);
  return findBreakingChanges(released, changed);
}

const operation = (document: Json, path: string, method: string): Json => document["paths"][path][method];
const bodyOf = (document: Json): Json => document["components"].schemas.CreateTransactionBody;
const responseOf = (document: Json): Json => document["components"].schemas.Transaction;
const queryOf = (document: Json): Json[] => operation(document, "/v1/transactions", "get")["parameters"];

const breaking: [what: string, change: (document: Json) => void, message: string][] = [
  ["a route that is gone", (d) => delete d["paths"]["/v1/assets"], "GET /v1/assets is gone"],
  ["a method that is gone", (d) => delete d["paths"]["/v1/wallets"].post, "POST /v1/wallets is gone"],
  [
    "a field of a request that is gone",
    (d) => delete bodyOf(d)["properties"].metadata,
    "body.metadata is gone",
  ],
  ["a new required field", (d) => bodyOf(d)["required"].push("metadata"), "body.metadata is now required"],
  [
    "a narrowed type",
    (d) => Object.assign(bodyOf(d)["properties"].amount, { type: "number" }),
    "body.amount changed from string to number",
  ],
  [
    "a shorter string",
    (d) => Object.assign(bodyOf(d)["properties"].reference, { maxLength: 64 }),
    "maxLength 64",
  ],
  [
    "a larger minimum length",
    (d) => Object.assign(bodyOf(d)["properties"].asset, { minLength: 3 }),
    "minLength 3",
  ],
  ["a pattern", (d) => Object.assign(bodyOf(d)["properties"].amount, { pattern: "^[0-9]+$" }), "pattern"],
  [
    "an enum instead of any string",
    (d) => Object.assign(bodyOf(d)["properties"].asset, { enum: ["USD"] }),
    "only some",
  ],
  [
    "an enum value of a request that is gone",
    (d) =>
      queryOf(d)
        .find(({ name }) => name === "state")
        ?.["schema"].items.enum.pop(),
    "no longer accepts",
  ],
  [
    "a query parameter that is gone",
    (d) =>
      queryOf(d).splice(
        queryOf(d).findIndex(({ name }) => name === "reference"),
        1,
      ),
    "query parameter reference is gone",
  ],
  [
    "a new required header",
    (d) => queryOf(d).push({ name: "x", in: "header", required: true, schema: {} }),
    "new and required",
  ],
  [
    "a field of a response that is gone",
    (d) => delete responseOf(d)["properties"].history,
    "response 202.history is gone",
  ],
  [
    "a field of a response that may be missing",
    (d) => responseOf(d)["required"].splice(responseOf(d)["required"].indexOf("reference"), 1),
    "response 202.reference may now be missing",
  ],
  [
    "a field of a response that may be null",
    (d) =>
      Object.assign(responseOf(d)["properties"], {
        reference: { anyOf: [{ type: "string" }, { type: "null" }] },
      }),
    "has a new variant",
  ],
  [
    "another status for success",
    (d) => {
      const { responses } = operation(d, "/v1/transactions", "post") as { responses: Json };
      responses["201"] = responses["202"];
      delete responses["202"];
    },
    "no longer answers with 202",
  ],
  [
    "another scope",
    (d) => Object.assign(operation(d, "/v1/assets", "get"), { security: [{ oauth2: ["audit:read"] }] }),
    "requires",
  ],
];

const additive: [what: string, change: (document: Json) => void][] = [
  ["nothing", () => undefined],
  ["a route", (d) => Object.assign(d["paths"], { "/v1/novelties": { get: { responses: {} } } })],
  [
    "an optional field of a request",
    (d) => Object.assign(bodyOf(d)["properties"], { note: { type: "string" } }),
  ],
  ["a longer string", (d) => Object.assign(bodyOf(d)["properties"].reference, { maxLength: 256 })],
  ["a field that is no longer required", (d) => bodyOf(d)["required"].pop()],
  [
    "an optional query parameter",
    (d) => queryOf(d).push({ name: "x", in: "query", schema: { type: "string" } }),
  ],
  [
    "an enum value of a request",
    (d) =>
      queryOf(d)
        .find(({ name }) => name === "state")
        ?.["schema"].items.enum.push("new"),
  ],
  ["a field of a response", (d) => Object.assign(responseOf(d)["properties"], { note: { type: "string" } })],
  ["an enum value of a response", (d) => responseOf(d)["properties"].state.enum.push("new")],
  [
    "an error",
    (d) => Object.assign(operation(d, "/v1/assets", "get")["responses"], { "429": { description: "" } }),
  ],
  [
    "the deprecation of a route",
    (d) => Object.assign(operation(d, "/v1/assets", "get"), { deprecated: true }),
  ],
  [
    "another description",
    (d) => Object.assign(operation(d, "/v1/assets", "get"), { summary: "Other words" }),
  ],
];

describe("breaking changes", () => {
  it.each(breaking)("are found and named: %s", (_what, change, message) => {
    const changes = breakingChangesAfter(change);
    expect(changes.length).toBeGreaterThan(0);
    expect(changes.join("\n")).toContain(message);
  });

  it("are listed one by one, each with its route", () => {
    const changes = breakingChangesAfter((document) => {
      delete document["paths"]["/v1/assets"];
      delete bodyOf(document)["properties"].metadata;
      delete bodyOf(document)["properties"].source;
    });
    expect(changes).toHaveLength(3);
  });

  it.each(additive)("do not include an addition: %s", (_what, change) => {
    expect(breakingChangesAfter(change)).toEqual([]);
  });
});
