import { expect, it } from "vitest";
import { createSchemaValidator, SchemaFault } from "./schema-validator.js";

it("a pattern that would never end is interrupted", () => {
  const validate = createSchemaValidator({ openapi: "3.1.0" });
  const evaluate = () => validate({ type: "string", pattern: "^(a+)+$" }, `${"a".repeat(50)}!`);
  expect(evaluate).toThrow(SchemaFault);
});

it("a schema that would answer with a promise is at fault, also behind a reference", () => {
  const Late = { $async: true, type: "string" };
  const validate = createSchemaValidator({ openapi: "3.1.0", components: { schemas: { Late } } });
  expect(() => validate(Late, 1)).toThrow(SchemaFault);
  expect(() => validate({ $ref: "#/components/schemas/Late" }, 1)).toThrow(SchemaFault);
});

it("references are followed inside the document, and nowhere else", () => {
  const validate = createSchemaValidator({
    openapi: "3.1.0",
    components: {
      schemas: { Amount: { type: "string" }, Loop: { items: { $ref: "#/components/schemas/Loop" } } },
    },
  });
  expect(validate({ $ref: "#/components/schemas/Amount" }, 1)).toBe("the body must be string");
  expect(validate({ $ref: "#/components/schemas/Loop" }, [[[]]])).toBeUndefined();
  expect(() => validate({ $ref: "http://169.254.169.254/schema" }, 1)).toThrow(SchemaFault);
});

it("OpenAPI 3.0 has nullable and exclusive bounds of its own", () => {
  const validate = createSchemaValidator({
    openapi: "3.0.3",
    components: { schemas: { Fee: { type: "integer", nullable: true, minimum: 0, exclusiveMinimum: true } } },
  });
  const fee = { $ref: "#/components/schemas/Fee" };
  expect(validate(fee, null)).toBeUndefined();
  expect(validate(fee, 1)).toBeUndefined();
  expect(validate(fee, 0)).toContain("must be > 0");
});
