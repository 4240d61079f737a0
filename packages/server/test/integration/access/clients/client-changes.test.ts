import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../../harness/service/test-service.js";

/** More than the maximum of waiting requests in a process, and more than the connections to the database. */
const changes = 300;

describe("many concurrent changes of one client", () => {
  let service: TestService;
  let token: string;
  let path: string;
  beforeAll(async () => {
    service = await startTestService({ "quotas.manage_burst": "10000" });
    const owner = await service.createTenant();
    token = await service.token(owner);
    const made = await service.call("POST", "/v1/clients", token, { name: "changed", scopes: [] });
    path = `/v1/clients/${((await made.json()) as { id: string }).id}`;
  });
  afterAll(() => service.stop());

  const change = (name: string) => service.call("PATCH", path, token, { name });

  it("are applied one after the other or refused, and other requests do not wait for all of them", async () => {
    const answering = Array.from({ length: changes }, (_, index) => change(`change ${index}`));
    const others = Array.from({ length: 50 }, () => service.call("GET", "/v1/clients?limit=1", token));
    expect(new Set((await Promise.all(others)).map(({ status }) => status))).toEqual(new Set([200]));
    const answers = await Promise.all(answering);
    const made = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(made.length).toBeGreaterThan(100);
    for (const answer of refused) {
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "1"]);
      expect(await answer.json()).toMatchObject({ error: { code: "CONCURRENCY_LIMITED" } });
    }
    const audit = await service.call("GET", "/v1/audit?limit=200", token);
    const { data } = (await audit.json()) as { data: { action: string }[] };
    expect(data.filter(({ action }) => action === "client.change").length).toBe(Math.min(made.length, 200));
  });

  it("are refused in time if the client stays locked", async () => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isHeld: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      isHeld = resolve;
    });
    const holding = service.database.session(async (session) => {
      await session.script("BEGIN; SELECT FROM clients FOR UPDATE");
      isHeld();
      await released;
      await session.script("ROLLBACK");
    });
    await held;
    const answer = await change("held");
    expect(answer.status).toBe(429);
    expect(await answer.json()).toMatchObject({ error: { code: "CONCURRENCY_LIMITED" } });
    release();
    await holding;
    expect((await change("free again")).status).toBe(200);
  });

  it("give no program a name with characters that nobody sees: approvers read it beside those of people", async () => {
    const named = { code: "INVALID_REQUEST", details: [{ path: "body.name" }] };
    const made = await service.call("POST", "/v1/clients", token, { name: "Ledger\u202e", scopes: [] });
    for (const answer of [made, await change("Ledger\u0007")])
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: named }]);
  });
});
