import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/config/load-config.js";
import { healthz } from "../../../src/http/routes/operations/healthz.js";
import { createTestEdge, type TestEdge } from "../../harness/http/test-edge.js";

const probe = { ...healthz, path: "/v1/probes", operationId: "probe" };
const preflight = (origin: string, url = "/v1/probes") => ({
  method: "OPTIONS" as const,
  url,
  headers: {
    origin,
    "access-control-request-method": "GET",
    "access-control-request-headers": "authorization",
  },
});

async function withEdge(corsOrigins: string | undefined, work: (edge: TestEdge) => Promise<void>) {
  const edge = await createTestEdge([probe], { corsOrigins });
  await work(edge);
  await edge.app.close();
}

describe("scripts of other origins", () => {
  it("are refused by default", () =>
    withEdge(undefined, async ({ app }) => {
      const response = await app.inject({
        url: "/v1/probes",
        headers: { origin: "https://console.example" },
      });
      expect(Object.keys(response.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect((await app.inject(preflight("https://console.example"))).statusCode).toBe(405);
    }));

  it.each([
    ["https://console.example", true],
    ["https://second.example:8443", true],
    ["http://console.example", false],
    ["https://console.example.evil.example", false],
    ["https://evil.example", false],
    ["https://CONSOLE.example", false],
    ["null", false],
  ])("of %s are allowed: %s, if two exact origins are configured", (origin, isAllowed) =>
    withEdge("https://console.example,https://second.example:8443", async ({ app }) => {
      const response = await app.inject({ url: "/v1/probes", headers: { origin } });
      expect(response.statusCode).toBe(200);
      expect(response.headers["access-control-allow-origin"]).toBe(isAllowed ? origin : undefined);
      expect(response.headers.vary).toBe("Origin");
      const asked = await app.inject(preflight(origin));
      expect(asked.statusCode).toBe(isAllowed ? 204 : 405);
      expect(asked.headers["access-control-allow-methods"]).toBe(isAllowed ? "GET, HEAD" : undefined);
    }),
  );

  it.each(["*", "https://console.example"])("can never send cookies: %s", (origins) =>
    withEdge(origins, async ({ app }) => {
      for (const request of [
        preflight("https://console.example"),
        { url: "/v1/probes", headers: { origin: "https://console.example" } },
      ]) {
        const { headers } = await app.inject(request);
        expect(headers["access-control-allow-origin"]).toBe(origins);
        expect(headers["access-control-allow-credentials"]).toBeUndefined();
      }
    }),
  );

  it("get errors like any client", () =>
    withEdge("https://console.example", async ({ app }) => {
      const headers = { origin: "https://console.example" };
      const missing = await app.inject({ url: "/v1/nowhere", headers });
      expect([missing.statusCode, missing.headers["access-control-allow-origin"]]).toEqual([
        404,
        headers.origin,
      ]);
      expect((await app.inject(preflight(headers.origin, "/v1/nowhere"))).statusCode).toBe(404);
    }));
});

describe("cors_origins", () => {
  const read = (value: string) => loadConfig({ BURSAR_CORS_ORIGINS: value }).values.cors_origins;

  it.each([
    ["*", "*"],
    ["https://a.example", "https://a.example"],
    ["https://a.example, http://127.0.0.1:3000", "https://a.example,http://127.0.0.1:3000"],
  ])("takes %s", (value, expected) => expect(read(value)).toBe(expected));

  it.each([
    "a.example",
    "https://a.example/",
    "https://a.example/path",
    "https://A.example",
    "https://*.example",
    "*,https://a.example",
    "null",
    "https://u:p@a.example",
    "file:///x",
  ])("refuses %s", (value) => expect(() => read(value)).toThrow("cors_origins"));
});

describe("headers for browsers", () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await createTestEdge([probe]);
  });
  afterAll(() => edge.app.close());

  it.each(["/v1/probes", "/v1/nowhere", "/v1/%zz"])("keep %s out of every cache", async (url) => {
    expect((await edge.app.inject(url)).headers["cache-control"]).toBe("no-store");
  });

  it.each(["/docs", "/docs/reference.js", "/openapi.json", "/healthz", "/nowhere"])(
    "forbid content sniffing of %s",
    async (url) => {
      expect((await edge.app.inject(url)).headers["x-content-type-options"]).toBe("nosniff");
    },
  );

  it("keep the API reference from loading foreign content and from being framed", async () => {
    const { headers } = await edge.app.inject("/docs");
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
    expect(headers["referrer-policy"]).toBe("no-referrer");
  });
});
