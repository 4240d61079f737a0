import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { selfSigned } from "../../client/test/harness/self-signed.js";
import { type Routes, refusal, startFakeService } from "./harness/fake-service.js";
import { me } from "./harness/resources.js";
import { createRunner } from "./harness/run.js";

interface Shown {
  state: string;
  check: string;
  found: string;
  advice?: string;
}

const scopes = ["transactions:read", "webhooks:manage"];
const own = { ...me, client: { ...me.client, scopes }, token: { ...me.token, scopes } };
const healthz = { body: { status: "alive" }, headers: { "bursar-version": "0.1.0" } };
const healthy: Routes = {
  "GET /healthz": healthz,
  "GET /readyz": { body: { status: "ready", checks: { database: "ok" } } },
  "GET /v1/me": { body: own },
  "GET /v1/webhook-endpoints": { body: { data: [], next_cursor: null } },
};
const endpoint = {
  id: "whe_1",
  url: "https://shop.example/hooks",
  state: "enabled",
  failing_since: null,
  disabled_reason: null,
};

/** What is reported as wrong, with a service that differs in one thing from a healthy one. */
describe("doctor", () => {
  const routes: Routes = {};
  let service: Awaited<ReturnType<typeof startFakeService>>;
  let cli: ReturnType<typeof createRunner>;
  beforeAll(async () => {
    service = await startFakeService(routes);
    cli = createRunner(service.url);
  });
  afterAll(() => service.close());
  beforeEach(() => {
    for (const name of Object.keys(routes)) delete routes[name];
    Object.assign(routes, healthy);
  });

  async function examine(args: string[] = [], env: Record<string, string> = {}) {
    const { code, out, err } = await cli.run(["doctor", "--jsonl", ...args], { env });
    const shown = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Shown)
      // What the server itself says depends on this machine.
      .filter(({ check }) => !["database", "master key", "migrations", "key of the data"].includes(check));
    return { code, err, shown, at: (check: string) => shown.find((one) => one.check === check) };
  }
  const elsewhere = (url: string) => ({
    BURSAR_URL: url,
    BURSAR_CLIENT_ID: "cli_1",
    BURSAR_CLIENT_SECRET: "x",
  });

  it("finds nothing wrong with a healthy service", async () => {
    const { shown } = await examine([], elsewhere(service.url));
    expect(shown.map(({ check, state }) => `${check} ${state}`)).toEqual([
      "profile ok",
      "address ok",
      "tls skipped",
      "clock ok",
      "version ok",
      "readiness ok",
      "token ok",
      "scopes ok",
      "stream skipped",
      "webhook endpoints ok",
    ]);
    expect(shown[0]?.found).toBe(`cli_1 at ${service.url}`);
  });

  it("prints one JSON document with --json, also if a check has failed", async () => {
    routes["GET /readyz"] = { status: 503, body: { checks: { database: "unavailable" } } };
    const { code, out } = await cli.run(["doctor", "--json"], { env: elsewhere(service.url) });
    const shown = JSON.parse(out) as Shown[];
    expect(code).toBe(1);
    expect(shown.find(({ check }) => check === "readiness")).toMatchObject({ state: "failed" });
    expect(shown.map(({ check }) => check)).toContain("webhook endpoints");
  });

  it("profile", async () => {
    const { code, at } = await examine(["--profile", "nobody"]);
    expect(code).toBe(1);
    expect(at("profile")).toMatchObject({ state: "failed", advice: expect.stringContaining("profile add") });
  });

  it("address: nothing listens, or something else", async () => {
    const nowhere = createRunner("http://127.0.0.1:1025");
    const { out, code } = await nowhere.run(["doctor"]);
    expect(code).toBe(1);
    expect(out).toMatch(/^failed {3}address .*ECONNREFUSED/m);
    expect(out).toContain("Is `npm start` running?");
    routes["GET /healthz"] = { status: 404, body: {} };
    expect((await examine()).at("address")).toMatchObject({
      state: "failed",
      found: expect.stringMatching(/with the status 404, but not as Bursar does$/),
    });
  });

  it("tls: a plain port, and a certificate that nobody trusts", async () => {
    const { port } = new URL(service.url);
    const plain = await examine([], elsewhere(`https://127.0.0.1:${port}`));
    expect(plain.at("tls")).toEqual({
      check: "tls",
      state: "failed",
      found: expect.stringMatching(/^the server does not answer with TLS on this port \([A-Z_]+\)$/),
      advice: "Check the address: it may be an http address, or the port of another service.",
    });
    const server = createTlsServer(selfSigned, (_, response) => response.end("{}"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const untrusted = await examine([], elsewhere(url));
    server.closeAllConnections();
    server.close();
    expect(untrusted.at("tls")).toMatchObject({
      state: "failed",
      found: expect.stringContaining("DEPTH_ZERO_SELF_SIGNED_CERT"),
      advice: expect.stringContaining("Install a certificate"),
    });
    for (const { found } of [...plain.shown, ...untrusted.shown]) expect(found).not.toMatch(/openssl|\n|\\u/);
  });

  it.each([
    [3, "ok"],
    [30, "warning"],
    [600, "failed"],
    [-600, "failed"],
  ])("clock: %i seconds ahead is %s", async (seconds, state) => {
    const date = new Date(Date.now() - seconds * 1000).toUTCString();
    routes["GET /healthz"] = { ...healthz, headers: { ...healthz.headers, date } };
    const { at, code } = await examine([], elsewhere(service.url));
    expect(at("clock")?.state).toBe(state);
    if (state === "failed") expect(code).toBe(1);
  });

  it("version and readiness", async () => {
    routes["GET /healthz"] = { ...healthz, headers: { "bursar-version": "9.9.9" } };
    routes["GET /readyz"] = { status: 503, body: { checks: { database: "unavailable" } } };
    const { at } = await examine();
    expect(at("version")).toMatchObject({ state: "warning", found: expect.stringContaining("9.9.9") });
    expect(at("readiness")).toMatchObject({ state: "failed", found: "status 503: database unavailable" });
  });

  it("token: the advice is about the credentials that are used", async () => {
    routes["GET /v1/me"] = refusal(401, "UNAUTHENTICATED");
    const given = await examine([], { BURSAR_URL: service.url, BURSAR_TOKEN: "expired" });
    expect(given.code).toBe(1);
    expect(given.at("token")?.advice).toContain("BURSAR_TOKEN");
    expect(given.at("profile")?.found).toBe(`BURSAR_TOKEN at ${service.url}`);
    expect((await examine()).at("token")?.advice).toContain("client id and the secret");
  });

  it("scopes", async () => {
    routes["GET /v1/me"] = { body: { ...own, token: { ...own.token, scopes: [] } } };
    const { at } = await examine();
    expect(at("scopes")).toMatchObject({ state: "warning", found: `the token lacks ${scopes.join(" ")}` });
    expect(at("webhook endpoints")?.state).toBe("skipped");
  });

  it("stream: a proxy that does not know it", async () => {
    const more = [...scopes, "events:read"];
    routes["GET /v1/me"] = {
      body: { ...own, client: { ...own.client, scopes: more }, token: { ...own.token, scopes: more } },
    };
    routes["GET /v1/events"] = { body: { data: [], next_cursor: null, latest_sequence: 7 } };
    expect((await examine()).at("stream")).toMatchObject({
      state: "failed",
      found: expect.stringContaining("NOT_FOUND"),
      advice: expect.stringContaining("WebSocket"),
    });
  });

  it.each([
    [{ state: "pending" }, "is pending: it receives nothing until it is verified", "webhooks verify whe_1"],
    [
      { failing_since: "2026-01-02T03:04:05Z" },
      "is failing since 2026-01-02T03:04:05Z",
      "webhooks enable whe_1",
    ],
    [{ state: "disabled", disabled_reason: "gone" }, "is disabled: gone", "webhooks test whe_1"],
  ])("endpoints: %j is not ok", async (changed, fault, advice) => {
    routes["GET /v1/webhook-endpoints"] = {
      body: { data: [endpoint, { ...endpoint, ...changed }], next_cursor: null },
    };
    expect((await examine()).at("webhook endpoints")).toEqual({
      check: "webhook endpoints",
      state: "warning",
      found: `whe_1 (https://shop.example/hooks) ${fault}`,
      advice: expect.stringContaining(advice),
    });
  });
});
