import { allScopes } from "@bursar/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { listRoutes } from "../../../src/http/api.js";
import { openApiDocument } from "../../../src/http/openapi/openapi-document.js";
import { healthz } from "../../../src/http/routes/operations/healthz.js";
import { readyz } from "../../../src/http/routes/operations/readyz.js";
import { createValidators } from "../../harness/http/answer-faults.js";
import {
  type ApiDocument,
  type Body,
  listOperations,
  nameIn,
  type Operation,
} from "../../harness/http/api-document.js";
import { sharedService } from "../../harness/service/shared-service.js";
import type { BlackBoxService, TestClient } from "../../harness/service/test-service.js";

const routes = [healthz, readyz({} as never), ...listRoutes({} as never, "http://bursar.example")];
const document = JSON.parse(JSON.stringify(openApiDocument(routes, "http://bursar.example"))) as ApiDocument;
const operations = listOperations(document);
const webhooks = listOperations({ ...document, paths: document.webhooks });
const validatorOf = createValidators(document);

/** The bodies of a request and of its responses, with a name for each. */
function bodiesOf({ operationId, requestBody, responses }: Operation): { name: string; body: Body }[] {
  const contents = [
    { name: `the request body of ${operationId}`, content: requestBody?.content },
    ...Object.entries(responses).map(([status, { content }]) => ({
      name: `the ${status} response of ${operationId}`,
      content,
    })),
  ];
  return contents.flatMap(({ name, content }) =>
    Object.values(content ?? {}).map((body) => ({ name, body })),
  );
}

function examplesOf(body: Body): [name: string, value: unknown][] {
  return Object.entries(body.examples ?? {}).map(([name, reference]) => [
    name,
    document.components.examples[nameIn(reference)]?.value,
  ]);
}

describe("the OpenAPI document", () => {
  it("has an example of every request and response body", () => {
    const missing = [...operations, ...webhooks]
      .flatMap(bodiesOf)
      .filter(({ body }) => examplesOf(body).length === 0)
      .map(
        ({ name, body }) =>
          `${name}: add an example named "${nameIn(body.schema)}" to a file of packages/protocol/src/examples`,
      );
    expect(missing).toEqual([]);
  });

  it("has an example and a description of every parameter", () => {
    const missing = [...operations, ...webhooks].flatMap(({ operationId, parameters = [] }) =>
      parameters
        .filter((parameter) => parameter.example === undefined || !("description" in parameter))
        .map(
          ({ name }) =>
            `${name} of ${operationId}: add a description and \`examples: [value]\` to the field in packages/protocol`,
        ),
    );
    expect(missing).toEqual([]);
  });

  it("has valid examples", () => {
    const faults = [...operations, ...webhooks].flatMap((operation) => [
      ...bodiesOf(operation).flatMap(({ name, body }) =>
        examplesOf(body).flatMap(([example, value]) => faultsOf(`${name}, ${example}`, body.schema, value)),
      ),
      ...(operation.parameters ?? []).flatMap(({ name, schema, example }) =>
        faultsOf(`${name} of ${operation.operationId}`, schema, example),
      ),
    ]);
    const ofHeaders = Object.entries(document.components.headers).flatMap(([name, { schema, example }]) =>
      faultsOf(`the header ${name}`, schema, example),
    );
    expect([...faults, ...ofHeaders]).toEqual([]);
  });

  it("says what every response means", () => {
    const bare = [...operations, ...webhooks].flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([, { description }]) => !/^[A-Z][^\n]{8,}\.$/.test(description))
        .map(([status, { description }]) => `${operationId} ${status}: ${description}`),
    );
    expect(bare).toEqual([]);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  it("gives every enum a type", () => {
    expect(untypedEnums(document, "")).toEqual([]);
  });
});

function faultsOf(name: string, schema: Body["schema"], value: unknown): string[] {
  const validate = validatorOf(schema);
  if (value !== undefined && validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${name}: ${instancePath} ${message}`);
}

function untypedEnums(node: unknown, path: string): string[] {
  if (typeof node !== "object" || node === null) return [];
  const own = "enum" in node && Array.isArray(node.enum) && !("type" in node) ? [path] : [];
  return [...own, ...Object.entries(node).flatMap(([key, value]) => untypedEnums(value, `${path}/${key}`))];
}

describe("a service that gets the examples of the OpenAPI document", () => {
  let service: BlackBoxService;
  let client: TestClient;
  let token: string;
  beforeAll(async () => {
    service = await sharedService();
    client = await service.createTenant("1000");
    ({ token } = await service.createIndependentClient(client, allScopes));
  });

  const ofRequests = operations.flatMap((operation) =>
    Object.entries(operation.requestBody?.content ?? {}).flatMap(([type, body]) =>
      examplesOf(body).map(([name, value]) => ({ operation, type, name, value })),
    ),
  );

  it.each(ofRequests)(
    "does not refuse the body of $operation.method $operation.path, $name, for its form",
    async ({ operation, type, value }) => {
      const { method, path } = targetOf(operation);
      const isForm = type !== "application/json";
      const response = await fetch(service.url + path, {
        method,
        headers: {
          ...headersOf(operation),
          "content-type": type,
          ...authorizationOf(value, isForm),
        },
        body: isForm ? new URLSearchParams(value as Record<string, string>) : JSON.stringify(value),
      });
      expect([response.status, await response.text()]).not.toContain(400);
    },
  );

  /** Not twice: a form can contain the client's secret. */
  function authorizationOf(value: unknown, isForm: boolean): Record<string, string> {
    if (!isForm) return { authorization: `Bearer ${token}` };
    return "client_secret" in (value as object) ? {} : { authorization: basic(client) };
  }

  it("does not refuse the parameters of any operation for their form", async () => {
    const refused: string[] = [];
    for (const operation of operations.filter((one) => one.requestBody === undefined)) {
      const { method, path } = targetOf(operation);
      const query = new URLSearchParams(
        (operation.parameters ?? [])
          // A ticket takes the place of the token.
          .filter((parameter) => parameter.in === "query" && parameter.name !== "ticket")
          .flatMap(({ name, example }) =>
            [example].flat().map((value): [string, string] => [name, String(value)]),
          ),
      );
      // The waiting of `Prefer` is for a version that is known.
      const { Prefer: _, ...headers } = headersOf(operation);
      const response = await service.call(method, `${path}?${query}`, token, undefined, headers);
      if (response.status === 400) refused.push(`${operation.operationId}: ${await response.text()}`);
    }
    expect(refused).toEqual([]);
  });
});

function targetOf({ method, path, parameters = [] }: Operation): { method: string; path: string } {
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  return {
    method,
    path: inPath.reduce((filled, { name, example }) => filled.replace(`{${name}}`, String(example)), path),
  };
}

function headersOf({ parameters = [] }: Operation): Record<string, string> {
  const inHeader = parameters.filter((parameter) => parameter.in === "header");
  return {
    ...Object.fromEntries(inHeader.map(({ name, example }) => [name, String(example)])),
    // Every request of this test is a new one.
    ...(inHeader.some(({ name }) => name === "Idempotency-Key")
      ? { "Idempotency-Key": crypto.randomUUID() }
      : {}),
  };
}

function basic({ clientId, secret }: TestClient): string {
  return `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}`;
}
