import { errorCatalog } from "@bursar/protocol";
import type { FastifyInstance, InjectOptions } from "fastify";
import { Type } from "typebox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defineRoute } from "../../../src/http/route.js";
import { DatabaseUnavailableError } from "../../../src/store/core/database-unavailable-error.js";
import { isErrorBody } from "../../harness/http/is-error-body.js";
import { createTestEdge, type TestEdge } from "../../harness/http/test-edge.js";

const json = { "content-type": "application/json" };

const Probe = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 8 }), count: Type.Optional(Type.Integer()) },
  { additionalProperties: false },
);
const common = {
  access: "open",
  tag: "Operations",
  summary: "A route of the test",
  success: { status: 200, schema: Type.Unknown(), description: "Anything." },
  errors: [],
} as const;

const probeRoutes = [
  defineRoute(
    { ...common, method: "POST", path: "/v1/probes", operationId: "probe", body: Probe },
    (request) => request.body,
  ),
  defineRoute(
    {
      ...common,
      method: "GET",
      path: "/v1/probes/:id",
      operationId: "readProbe",
      params: Type.Object({ id: Type.String() }),
      query: Type.Object(
        { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })) },
        { additionalProperties: false },
      ),
    },
    (request) => request.query,
  ),
  defineRoute(
    { ...common, method: "POST", path: "/v1/probes/batch", operationId: "probeBatch", body: Probe },
    (request) => request.body,
  ),
  defineRoute({ ...common, method: "GET", path: "/v1/crash", operationId: "crash" }, () => {
    throw new Error("secret inside: password hunter2");
  }),
  defineRoute({ ...common, method: "GET", path: "/v1/unavailable", operationId: "away" }, () => {
    throw new DatabaseUnavailableError("the database is unavailable", {
      cause: new Error("connect ECONNREFUSED 10.0.0.7:5432"),
    });
  }),
];

describe("every failure has the error format of the contract", () => {
  let edge: TestEdge;
  let app: FastifyInstance;
  beforeAll(async () => {
    edge = await createTestEdge(probeRoutes);
    app = edge.app;
  });
  afterAll(() => app.close());

  const post = (payload: string | Buffer, headers: Record<string, string> = json): InjectOptions => ({
    method: "POST",
    url: "/v1/probes",
    headers,
    payload,
  });

  it.each<[what: string, request: InjectOptions, code: keyof typeof errorCatalog]>([
    ["an unknown path", { url: "/v1/nowhere" }, "NOT_FOUND"],
    ["a wrong method", { method: "DELETE", url: "/v1/probes" }, "METHOD_NOT_ALLOWED"],
    [
      "a wrong method for a literal path that a parameter of another one matches",
      { url: "/v1/probes/batch" },
      "METHOD_NOT_ALLOWED",
    ],
    ["a wrong method for an encoded path", { method: "PUT", url: "/v1/%70robes/1" }, "METHOD_NOT_ALLOWED"],
    [
      "a method that Fastify does not know",
      { method: "PROPFIND" as "GET", url: "/v1/probes" },
      "METHOD_NOT_ALLOWED",
    ],
    ["OPTIONS", { method: "OPTIONS", url: "/healthz" }, "METHOD_NOT_ALLOWED"],
    ["a badly encoded path", { url: "/v1/probes/%zz" }, "MALFORMED_REQUEST"],
    ["a path that is not UTF-8", { url: "/v1/probes/%ff" }, "MALFORMED_REQUEST"],
    ["a very long segment", { url: `/v1/probes/${"a".repeat(2000)}` }, "URI_TOO_LONG"],
    [
      "another content type",
      post("name=a", { "content-type": "application/x-www-form-urlencoded" }),
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    ["text", post("{}", { "content-type": "text/plain" }), "UNSUPPORTED_MEDIA_TYPE"],
    ["no content type", post("{}", {}), "UNSUPPORTED_MEDIA_TYPE"],
    [
      "another charset",
      post("{}", { "content-type": "application/json; charset=utf-16" }),
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    ["a compressed body", post("{}", { ...json, "content-encoding": "gzip" }), "UNSUPPORTED_MEDIA_TYPE"],
    ["malformed JSON", post("{"), "MALFORMED_JSON"],
    ["a body that is not UTF-8", post(Buffer.from([0x22, 0xff, 0x22])), "MALFORMED_JSON"],
    ["a repeated key", post('{"name":"a","name":"b"}'), "MALFORMED_JSON"],
    ["__proto__", post('{"name":"a","__proto__":{"count":1}}'), "MALFORMED_JSON"],
    ["constructor", post('{"name":"a","constructor":{"prototype":{}}}'), "MALFORMED_JSON"],
    ["too deep", post("[".repeat(20) + "]".repeat(20)), "MALFORMED_JSON"],
    ["JSON that is not an object", post("[]"), "INVALID_REQUEST"],
    ["JSON null", post("null"), "INVALID_REQUEST"],
    ["no body", post(""), "INVALID_REQUEST"],
    ["a missing field", post("{}"), "INVALID_REQUEST"],
    ["an unknown field", post('{"name":"a","colour":"red"}'), "INVALID_REQUEST"],
    ["a number instead of a string", post('{"name":1}'), "INVALID_REQUEST"],
    ["a string instead of a number", post('{"name":"a","count":"1"}'), "INVALID_REQUEST"],
    ["a query out of bounds", { url: "/v1/probes/1?limit=10" }, "INVALID_REQUEST"],
    ["an unknown query parameter", { url: "/v1/probes/1?limits=1" }, "INVALID_REQUEST"],
    ["a body over the limit", post(JSON.stringify({ name: "a".repeat(70_000) })), "PAYLOAD_TOO_LARGE"],
    ["a handler that crashes", { url: "/v1/crash" }, "INTERNAL"],
    ["an unavailable database", { url: "/v1/unavailable" }, "UNAVAILABLE"],
  ])("%s", async (_what, request, code) => {
    const response = await app.inject({
      ...request,
      headers: { ...request.headers, "x-request-id": "from-the-client.1" },
    });
    expect(response.statusCode).toBe(errorCatalog[code].status);
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(response.headers["x-request-id"]).toBe("from-the-client.1");
    expect(response.headers["bursar-version"]).toBe("0.1.0");
    const body = response.json();
    expect(isErrorBody(body)).toBe(true);
    expect(body.error).toMatchObject({ code, request_id: "from-the-client.1" });
  });

  it("accepts a valid request", async () => {
    const response = await app.inject(
      post('{"name":"a","count":1}', { "content-type": "application/json; charset=UTF-8" }),
    );
    expect([response.statusCode, response.json()]).toEqual([200, { name: "a", count: 1 }]);
  });

  it("converts numbers in a query", async () => {
    expect((await app.inject("/v1/probes/1?limit=3")).json()).toEqual({ limit: 3 });
  });

  it("names every invalid field", async () => {
    const response = await app.inject(post('{"count":1.5,"colour":"red","a/b":1}'));
    expect(response.json().error.details).toEqual(
      expect.arrayContaining([
        { path: "body.name", reason: "is required" },
        { path: "body.colour", reason: "is not a known field" },
        { path: "body.a/b", reason: "is not a known field" },
        { path: "body.count", reason: "must be integer" },
      ]),
    );
  });

  it("lists a limited number of faults", async () => {
    const fields = Array.from({ length: 90 }, (_, index) => `"f${index}":1`).join(",");
    expect((await app.inject(post(`{${fields}}`))).json().error.details).toHaveLength(20);
  });

  it("lists the methods of the path in Allow", async () => {
    expect((await app.inject({ method: "PUT", url: "/v1/probes" })).headers["allow"]).toBe("POST");
    expect((await app.inject({ method: "PUT", url: "/healthz" })).headers["allow"]).toBe("GET, HEAD");
  });

  it("reveals no internal details, and logs them", async () => {
    const response = await app.inject({ url: "/v1/crash" });
    expect(response.body).not.toContain("hunter2");
    const id = response.headers["x-request-id"];
    const line = edge.logLines.find(
      (candidate) => candidate["request_id"] === id && candidate["msg"] === "the request failed",
    );
    expect(JSON.stringify(line)).toContain("hunter2");
  });

  it("asks to retry when the database is unavailable", async () => {
    const response = await app.inject({ url: "/v1/unavailable" });
    expect(response.headers["retry-after"]).toBe("1");
    expect(response.body).not.toContain("10.0.0.7");
  });
});

describe("the request id", () => {
  it.each([
    ["", false],
    ["abc", true],
    ["A.b_c-9", true],
    ["a".repeat(128), true],
    ["a".repeat(129), false],
    ["has space", false],
    ['forged","level":60', false],
    ["é", false],
  ])("%j is taken over: %s", async (given, taken) => {
    const { app, logLines } = await createTestEdge();
    const response = await app.inject({ url: "/v1/nowhere", headers: { "x-request-id": given } });
    const id = response.headers["x-request-id"];
    expect(id === given).toBe(taken);
    expect(response.json().error.request_id).toBe(id);
    expect(logLines.some((line) => line["request_id"] === id)).toBe(true);
    await app.close();
  });

  it("is in the log line of a request that the router refuses", async () => {
    const { app, logLines } = await createTestEdge();
    await app.inject({ url: "/%zz", headers: { "x-request-id": "bad-url" } });
    expect(logLines).toContainEqual(
      expect.objectContaining({ request_id: "bad-url", status: 400, path: "/%zz" }),
    );
    await app.close();
  });

  it("is logged without the query and without credentials", async () => {
    const { app, logLines } = await createTestEdge();
    await app.inject({
      url: "/v1/nowhere?ticket=s3cr3t",
      headers: { authorization: "Bearer s3cr3t", cookie: "s3cr3t" },
    });
    expect(JSON.stringify(logLines)).not.toContain("s3cr3t");
    await app.close();
  });
});
