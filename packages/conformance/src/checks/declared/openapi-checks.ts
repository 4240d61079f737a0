import { findDocument } from "../../documents/find-document.js";
import { findOperation, findParameter, findResponse, schemaOf } from "../../documents/openapi.js";
import {
  createSchemaValidator,
  SchemaFault,
  type SchemaValidator,
} from "../../documents/schema-validator.js";
import { declaredCheck, expect, fail } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { showValue } from "../../engine/name-value.js";

const source = "The target's OpenAPI document";
const document = "declared.openapi.document";
const operations = "declared.openapi.operations";

/** The operations of the contract, with the status of their success. */
const contractOperations = [
  { method: "POST", path: "/v1/wallets", status: 202 },
  { method: "POST", path: "/v1/transactions", status: 202 },
  { method: "GET", path: "/v1/transactions/{id}", status: 200 },
  { method: "GET", path: "/v1/orderbook", status: 200 },
] as const;

export const openapi = (kit: Kit) => findDocument(kit, "openapi");

/** One for all checks, because compiling a large document takes a while. */
export const openapiValidator = (kit: Kit): Promise<SchemaValidator> =>
  kit.fixture("OpenAPI schemas", async (own) => createSchemaValidator(await openapi(own)));

/** The document itself, before anything is held to it. */
export const openapiChecks = [
  declaredCheck(document, source, "The document can be read.", {}, async (kit) => {
    await openapi(kit);
  }),
  declaredCheck(
    operations,
    source,
    "The document has the operations of the contract.",
    { needs: [document] },
    async (kit) => {
      const own = await openapi(kit);
      const missing = contractOperations.filter(
        ({ method, path }) => findOperation(own, method, path) === undefined,
      );
      expect(
        missing.length === 0,
        "the four operations of the contract",
        `no ${missing.map(({ method, path }) => `${method} ${path}`).join(" and no ")}`,
      );
    },
  ),
  declaredCheck(
    "declared.openapi.key",
    source,
    "The document declares Idempotency-Key as a required header of POST /v1/transactions.",
    { needs: [operations] },
    async (kit) => {
      const own = await openapi(kit);
      const parameter = findParameter(
        own,
        findOperation(own, "POST", "/v1/transactions") ?? {},
        "Idempotency-Key",
      );
      expect(
        parameter?.["required"] === true,
        "the header Idempotency-Key with required: true",
        parameter === undefined ? "no such parameter" : `required: ${showValue(parameter["required"])}`,
      );
    },
  ),
  declaredCheck(
    "declared.openapi.statuses",
    source,
    "The document declares the statuses of success that the contract names.",
    { needs: [operations] },
    async (kit) => {
      const own = await openapi(kit);
      const missing = contractOperations.filter(({ method, path, status }) => {
        const operation = findOperation(own, method, path) ?? {};
        const named = operation["responses"];
        return (
          typeof named !== "object" || named === null || findResponse(own, operation, status) === undefined
        );
      });
      expect(
        missing.length === 0,
        "202 for both POST operations, and 200 for both GET operations",
        `no ${missing.map(({ method, path, status }) => `${status} for ${method} ${path}`).join(", no ")}`,
      );
    },
  ),
  declaredCheck(
    "declared.openapi.schemas",
    source,
    "The schemas of the contract's operations can be compiled, with all their references.",
    { needs: ["declared.openapi.statuses"] },
    async (kit) => {
      const own = await openapi(kit);
      const validate = await openapiValidator(kit);
      for (const { method, path, status } of contractOperations) {
        const response = findResponse(own, findOperation(own, method, path) ?? {}, status) ?? {};
        const schema = schemaOf(own, response);
        if (schema === undefined) continue;
        try {
          validate(schema, null);
        } catch (error) {
          if (!(error instanceof SchemaFault)) throw error;
          fail(`a schema for ${status} of ${method} ${path} that can be compiled`, error.message);
        }
      }
    },
  ),
];
