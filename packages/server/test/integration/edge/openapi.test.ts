import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { listRoutes } from "../../../src/http/api.js";
import { openApiDocument } from "../../../src/http/openapi/openapi-document.js";
import type { ApiDocument } from "../../harness/http/api-document.js";
import { listOperations } from "../../harness/http/api-document.js";

const routes = listRoutes({} as never, "http://bursar.example");
const document = JSON.parse(JSON.stringify(openApiDocument(routes, "http://bursar.example"))) as ApiDocument;

/** Every `$ref` of the document, as a path of keys. */
function references(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === "$ref" && typeof value === "string" ? [value] : references(value),
  );
}

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(document) as never);
    expect(result.errors ?? []).toEqual([]);
    expect([result.valid, validator.version]).toEqual([true, "3.1"]);
  });

  it("inlines no request body and no response body: each is a reference to a named component", () => {
    const operations = listOperations(document);
    expect(operations.length).toBe(routes.length);
    const contents = operations.flatMap(({ method, path, requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].flatMap((part) =>
        Object.values(part?.content ?? {}).map(({ schema }) => ({ operation: `${method} ${path}`, schema })),
      ),
    );
    expect(contents.length).toBeGreaterThan(routes.length);
    expect(contents.filter(({ schema }) => Object.keys(schema).join() !== "$ref")).toEqual([]);
  });

  it("resolves all its references", () => {
    const found = new Set(references(document));
    expect(found.size).toBeGreaterThan(60);
    const broken = [...found].filter(
      (reference) =>
        reference
          .replace(/^#\//, "")
          .split("/")
          .reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document) ===
        undefined,
    );
    expect(broken).toEqual([]);
  });

  it("has one error body for all routes, and that of RFC 6749 for the OAuth endpoints", () => {
    const bodies = listOperations(document).flatMap(({ path, responses }) =>
      Object.entries(responses)
        .filter(([status]) => Number(status) >= 400)
        .map(([, { content }]) => [
          path.startsWith("/oauth/") ? "oauth" : "other",
          content?.["application/json"]?.schema["$ref"],
        ]),
    );
    expect(new Set(bodies.map((pair) => pair.join(" ")))).toEqual(
      new Set(["oauth #/components/schemas/OAuthError", "other #/components/schemas/Error"]),
    );
  });
});
