import { Agent, get } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

const transaction = { reference: "concurrency", asset: "USD", amount: "1" };

describe("the concurrency of one client", () => {
  let service: TestService;
  let token: string;
  beforeAll(async () => {
    service = await startTestService({
      "limits.requests_per_client": "2",
      "limits.connections_per_client": "3",
    });
    token = await service.token(await service.createTenant("10"));
  });
  afterAll(() => service.stop());

  it("is limited to a number of requests, excluding requests whose connection was closed", async () => {
    const made = await service.call("POST", "/v1/transactions", token, transaction, {
      "idempotency-key": "1",
    });
    const { id } = (await made.json()) as { id: string };
    const path = `/v1/transactions/${id}`;
    const read = (headers = {}) => service.call("GET", path, token, undefined, headers);
    const settled = await eventually(read, ({ headers }) => headers.get("etag") !== made.headers.get("etag"));
    const gone = new AbortController();
    const waiting = [1, 2].map(() =>
      fetch(service.url + path, {
        headers: {
          authorization: `Bearer ${token}`,
          prefer: "wait=30",
          "if-none-match": settled.headers.get("etag") ?? "",
        },
        signal: gone.signal,
      }).catch(() => "gone"),
    );
    const refused = await eventually(read, ({ status }) => status !== 200);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await refused.json()).toMatchObject({ error: { code: "CONCURRENCY_LIMITED" } });
    gone.abort();
    expect(await Promise.all(waiting)).toEqual(["gone", "gone"]);
    expect((await eventually(read, ({ status }) => status === 200)).status).toBe(200);
  });

  const ask = (agent: Agent, bearer = token) =>
    new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${bearer}` };
      get(`${service.url}/v1/assets`, { agent, headers }, (response) => {
        response.resume();
        response.once("end", () =>
          resolve({ status: response.statusCode, connection: response.headers.connection }),
        );
      }).once("error", reject);
    });

  it("is limited to a number of connections", async () => {
    // Each agent keeps a connection of its own; those of the previous test may still be open.
    const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const answers = [];
    for (const agent of agents) answers.push(await ask(agent));
    expect(answers.at(-1)).toEqual({ status: 429, connection: "close" });
    for (const agent of agents) agent.destroy();
    const fresh = new Agent({ keepAlive: false });
    await eventually(
      () => ask(fresh),
      ({ status }) => status === 200,
    );
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(/^bursar_errors_total\{code="CONCURRENCY_LIMITED"\} [1-9]/m);
    expect(metrics).toMatch(/^bursar_quota_reservations_total [1-9]/m);
    expect(metrics).toMatch(/^bursar_overloaded 0$/m);
  });

  it("is counted for each of many clients that share a connection, with one listener for all of them", async () => {
    const warnings: Error[] = [];
    const keep = (warning: Error) => warnings.push(warning);
    process.on("warning", keep);
    const tokens = await Promise.all(
      Array.from({ length: 12 }, async () => service.token(await service.createTenant("10"))),
    );
    const shared = () => new Agent({ keepAlive: true, maxSockets: 1 });
    const agents = [shared(), shared(), shared()];
    for (const agent of agents)
      for (const bearer of tokens) expect((await ask(agent, bearer)).status).toBe(200);
    const fourth = shared();
    expect((await ask(fourth, tokens[11])).status).toBe(429);
    for (const agent of [...agents, fourth]) agent.destroy();
    for (const bearer of tokens) {
      const agent = shared();
      await eventually(
        () => ask(agent, bearer),
        ({ status }) => status === 200,
      );
      agent.destroy();
    }
    process.off("warning", keep);
    expect(warnings.map(({ name }) => name)).not.toContain("MaxListenersExceededWarning");
  });
});
