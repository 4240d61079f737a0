import { describe, expect, it } from "vitest";
import { listRoutes } from "../../../src/http/api.js";
import { createReadiness } from "../../../src/runtime/readiness.js";
import { createTestEdge } from "../../harness/http/test-edge.js";

describe("readiness", () => {
  it("reflects startup, shutdown and the state of the database", async () => {
    let fault: Error | undefined;
    let clockFault: string | undefined;
    const readiness = createReadiness({
      ping: async () => {
        if (fault !== undefined) throw fault;
      },
      clockFault: () => clockFault,
    });
    const { app } = await createTestEdge([], { readiness });
    const ask = async () => {
      const response = await app.inject("/readyz");
      return [response.statusCode, response.json().error?.details ?? response.json()];
    };

    expect(await ask()).toEqual([503, [{ path: "service", reason: "is starting" }]]);
    readiness.set("ready");
    expect(await ask()).toEqual([200, { status: "ready", checks: { database: "up" } }]);
    fault = new Error("gone");
    expect(await ask()).toEqual([503, [{ path: "database", reason: "is down" }]]);
    fault = undefined;
    clockFault = "this machine's clock is 6.0 s ahead of the database's";
    expect(await ask()).toEqual([503, [{ path: "clock", reason: clockFault }]]);
    clockFault = undefined;
    expect(await ask()).toMatchObject([200, {}]);
    readiness.set("stopping");
    expect(await ask()).toEqual([503, [{ path: "service", reason: "is stopping" }]]);
    expect((await app.inject("/healthz")).json()).toEqual({ status: "alive" });
    await app.close();
  });

  it("queries the database once for concurrent probes", async () => {
    let pings = 0;
    let answer: () => void = () => undefined;
    const readiness = createReadiness({
      ping: () => {
        pings += 1;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
      clockFault: () => undefined,
    });
    readiness.set("ready");
    const { app } = await createTestEdge([], { readiness });
    const probes = Array.from({ length: 50 }, () =>
      app.inject("/readyz").then(({ statusCode }) => statusCode),
    );
    // It is answered after all of them have begun.
    await app.inject("/healthz");
    answer();
    expect(new Set(await Promise.all(probes))).toEqual(new Set([200]));
    expect(pings).toBe(1);
    await app.close();
  });
});

describe("metrics", () => {
  const ask = async (
    token: string | undefined,
    headers: Record<string, string>,
    remoteAddress = "127.0.0.1",
  ) => {
    const { app } = await createTestEdge([], { metricsToken: token });
    await app.inject("/v1/nowhere");
    const response = await app.inject({ url: "/metrics", headers, remoteAddress });
    await app.close();
    return response;
  };

  it("answers callers on this machine if no token is configured", async () => {
    const response = await ask(undefined, {});
    expect(response.statusCode).toBe(200);
    expect(response.body).toMatch(
      /bursar_http_request_duration_seconds_count\{method="GET",route="none",status="404"\} 1/,
    );
  });

  it.each([
    ["another machine", undefined, {}, "192.0.2.1"],
    ["a proxy on this machine", undefined, { "x-forwarded-for": "192.0.2.1" }, "127.0.0.1"],
    ["a page that has the address of this machine", undefined, { host: "evil.example:8080" }, "127.0.0.1"],
    ["a name that begins like this machine", undefined, { host: "127.0.0.1.evil.example" }, "127.0.0.1"],
    ["no token", "t0ken", {}, "127.0.0.1"],
    ["a wrong token", "t0ken", { authorization: "Bearer other" }, "127.0.0.1"],
  ] as const)("hides from %s", async (_who, token, headers, address) => {
    expect((await ask(token, headers, address)).statusCode).toBe(404);
  });

  it.each(["localhost:8080", "127.0.0.1:8080", "[::1]:8080"])("answers this machine as %s", async (host) => {
    expect((await ask(undefined, { host })).statusCode).toBe(200);
  });

  it("answers requests with the token, from any address", async () => {
    expect((await ask("t0ken", { authorization: "Bearer t0ken" }, "192.0.2.1")).statusCode).toBe(200);
  });
});

describe("documents", () => {
  it("serves the OpenAPI document of all its routes", async () => {
    const { app } = await createTestEdge();
    const document = (await app.inject("/openapi.json")).json();
    expect(document).toMatchObject({ openapi: "3.1.0", info: { version: "0.1.0" } });
    expect(Object.keys(document.paths)).toEqual(["/healthz", "/readyz"]);
    expect(document.paths["/readyz"].get.responses["503"].content["application/json"].schema.$ref).toBe(
      "#/components/schemas/Error",
    );
    await app.close();
  });

  it("documents the routes that the contract requires", async () => {
    const { app } = await createTestEdge(listRoutes({} as never, "http://bursar.example"));
    const { paths, components } = (await app.inject("/openapi.json")).json();
    const create = paths["/v1/transactions"].post;
    expect(create.parameters).toContainEqual(
      expect.objectContaining({ in: "header", name: "Idempotency-Key", required: true }),
    );
    expect(create.security).toEqual([{ oauth2: ["transactions:write"] }]);
    expect(create.requestBody.content["application/json"].schema).toEqual({
      $ref: "#/components/schemas/CreateTransactionBody",
    });
    expect(components.schemas.CreateTransactionBody.required).toEqual(["reference", "asset", "amount"]);
    expect(Object.keys(create.responses)).toEqual(
      expect.arrayContaining(["202", "400", "401", "403", "422", "503"]),
    );
    expect(Object.keys(components.securitySchemes.oauth2.flows.clientCredentials.scopes)).toContain(
      "transactions:write",
    );
    await app.close();
  });

  it("serves a reference page that loads nothing from other hosts", async () => {
    const { app } = await createTestEdge();
    const page = await app.inject("/docs");
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
    const sources = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(sources).toContain("docs/reference.js");
    // Relative, for proxies that add a prefix. The links to the guides are followed by the test of those.
    for (const source of sources.filter((candidate) => /^docs\/\w+\.js$|^openapi\.json$/.test(candidate)))
      expect((await app.inject(`/${source}`)).statusCode).toBe(200);
    for (const source of sources) expect(source).toMatch(/^(docs|openapi\.json$|data:,$)/);
    await app.close();
  });
});
