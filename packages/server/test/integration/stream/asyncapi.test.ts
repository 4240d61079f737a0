import specs from "@asyncapi/specs";
import { asyncApiDocument } from "@bursar/protocol";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { createValidators } from "../../harness/http/answer-faults.js";
import { createTestEdge } from "../../harness/http/test-edge.js";

describe("/asyncapi.json", () => {
  it("is valid AsyncAPI 3.0 by the official schema", () => {
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const validate = ajv.compile(specs.schemasWithoutId["3.0.0"] as object);
    for (const url of ["http://127.0.0.1:8080", "https://bursar.example/api"]) {
      const document = JSON.parse(JSON.stringify(asyncApiDocument(url)));
      validate(document);
      expect(validate.errors).toBeNull();
    }
  });

  it("has a valid example of every message", () => {
    const document = JSON.parse(JSON.stringify(asyncApiDocument("http://bursar.example")));
    const validatorOf = createValidators(document);
    const messages = Object.entries(document.components.messages) as [
      string,
      { payload: object; examples: { payload: unknown }[] },
    ][];
    expect(messages.length).toBeGreaterThan(10);
    const faults = messages.flatMap(([name, { payload, examples }]) => {
      if (examples.length === 0)
        return [`${name}: add an example to packages/protocol/src/examples/stream-examples.ts`];
      const validate = validatorOf(payload as never);
      return examples.flatMap((example) =>
        validate(example.payload) ? [] : [`${name}: ${JSON.stringify(validate.errors)}`],
      );
    });
    expect(faults).toEqual([]);
  });

  it("resolves all its references", async () => {
    const { app } = await createTestEdge();
    const document = (await app.inject("/asyncapi.json")).json();
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(20);
    for (const [, path = ""] of references) {
      const target = path.split("/").reduce((node, key) => node?.[key], document);
      expect(target, path).toBeDefined();
    }
    expect(document.servers.bursar).toMatchObject({ host: "bursar.example", protocol: "ws" });
  });
});
