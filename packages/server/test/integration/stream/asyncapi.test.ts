import specs from "@asyncapi/specs";
import { asyncApiDocument } from "@bursar/protocol";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";
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
