import { readId, type Scope } from "@bursar/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { type Statement, sql } from "../../../../src/store/core/sql.js";
import { eventually } from "../../../harness/eventually.js";
import { startTestService, type TestClient } from "../../../harness/service/test-service.js";

const service = await startTestService({ BURSAR_DATABASE_CONNECTIONS: "5" });
afterAll(() => service.stop());

const locksWaiting = () =>
  service.database.query(sql`
    SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`);

const document = (reason: string) => ({ rules: [], default: { action: "reject", reason } });

/** What a client does, and the rows that the test locks so that it has to wait for them. */
interface Attempt {
  scopes: readonly Scope[];
  /** What the owner of the tenant makes first, and its lock. */
  begin: (call: Call, owner: TestClient) => Promise<{ id: string; lock: Statement }>;
  act: (call: Call, id: string) => Promise<Response>;
  /** Whether it had no effect. */
  isAsBefore: (call: Call, id: string) => Promise<boolean>;
}

type Call = (
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<Response>;

const idOf = async (response: Response) => ((await response.json()) as { id: string }).id;
const primaryOf = async (call: Call) => {
  const { data } = (await (await call("GET", "/v1/wallets")).json()) as { data: { id: string }[] };
  return data[0]?.id ?? "";
};
const countOf = async (call: Call, path: string) =>
  ((await (await call("GET", path)).json()) as { data: unknown[] }).data.length;
const tenantLock = ({ tenantId }: TestClient) =>
  sql`SELECT FROM tenants WHERE id = ${readId("tnt", tenantId)} FOR NO KEY UPDATE`;
const endpoint = { url: "https://hooks.example.com/in" };

const attempts: Record<string, Attempt> = {
  "unfreezing a wallet": {
    scopes: ["wallets:unfreeze"],
    begin: async (call) => {
      const id = await primaryOf(call);
      await call("POST", `/v1/wallets/${id}/freeze`);
      return { id, lock: sql`SELECT FROM wallets WHERE id = ${readId("wlt", id)} FOR UPDATE` };
    },
    act: (call, id) => call("POST", `/v1/wallets/${id}/unfreeze`),
    isAsBefore: async (call, id) =>
      ((await (await call("GET", `/v1/wallets/${id}`)).json()) as { frozen: boolean }).frozen,
  },
  "replacing the policy": {
    scopes: ["policies:manage"],
    begin: async (_call, owner) => ({ id: "", lock: tenantLock(owner) }),
    act: (call) => call("PUT", "/v1/policy", document("mine"), { "if-match": '"0"' }),
    isAsBefore: async (call) => (await call("GET", "/v1/policy")).headers.get("etag") === '"0"',
  },
  "removing a destination": {
    scopes: ["destinations:manage"],
    begin: async (call) => {
      const id = await idOf(
        await call("POST", "/v1/destinations", {
          label: "x",
          network: "eip155:1",
          address: `0x${"ab".repeat(20)}`,
        }),
      );
      return { id, lock: sql`SELECT FROM destinations WHERE id = ${readId("dst", id)} FOR UPDATE` };
    },
    act: (call, id) => call("DELETE", `/v1/destinations/${id}`),
    isAsBefore: async (call) => (await countOf(call, "/v1/destinations")) === 1,
  },
  "changing a webhook endpoint": {
    scopes: ["webhooks:manage"],
    begin: async (call) => {
      const id = await idOf(await call("POST", "/v1/webhook-endpoints", endpoint));
      return { id, lock: sql`SELECT FROM webhook_endpoints WHERE id = ${readId("whe", id)} FOR UPDATE` };
    },
    act: (call, id) => call("PATCH", `/v1/webhook-endpoints/${id}`, { description: "mine" }),
    isAsBefore: async (call, id) =>
      ((await (await call("GET", `/v1/webhook-endpoints/${id}`)).json()) as { description: string | null })
        .description === null,
  },
  "rotating the secret of a webhook endpoint": {
    scopes: ["webhooks:manage", "transactions:read"],
    begin: async (call) => {
      const id = await idOf(
        await call("POST", "/v1/webhook-endpoints", { ...endpoint, events: ["transaction.updated"] }),
      );
      return { id, lock: sql`SELECT FROM webhook_endpoints WHERE id = ${readId("whe", id)} FOR UPDATE` };
    },
    act: (call, id) => call("POST", `/v1/webhook-endpoints/${id}/rotate-secret`, {}),
    isAsBefore: async () => true,
  },
  "rejecting a change request": {
    scopes: ["policies:manage"],
    begin: async (call, owner) => {
      const id = await idOf(
        await call("POST", "/v1/change-requests", {
          kind: "client.change",
          change: { client_id: owner.clientId, state: "disabled" },
        }),
      );
      return { id, lock: sql`SELECT FROM change_requests WHERE id = ${readId("chr", id)} FOR UPDATE` };
    },
    act: async (call, id) => {
      const { digest } = (await (await call("GET", `/v1/change-requests/${id}`)).json()) as {
        digest: string;
      };
      return await call("POST", `/v1/change-requests/${id}/reject`, { digest });
    },
    isAsBefore: async (call, id) =>
      ((await (await call("GET", `/v1/change-requests/${id}`)).json()) as { state: string }).state ===
      "pending",
  },
};

describe("a client that is disabled while its request waits for a lock", () => {
  it.each(Object.entries(attempts))("has it refused: %s", async (_name, attempt) => {
    const owner = await service.createTenant();
    const ownToken = await service.token(owner);
    const asOwner: Call = (method, path, body, headers) =>
      service.call(method, path, ownToken, body, headers);
    const { id, lock } = await attempt.begin(asOwner, owner);
    const insider = await service.createIndependentClient(owner, attempt.scopes);
    const asInsider: Call = (method, path, body, headers) =>
      service.call(method, path, insider.token, body, headers);
    const { acting } = await service.database.transaction(async (tx) => {
      await tx.query(lock);
      const acting = attempt.act(asInsider, id);
      await eventually(locksWaiting, (found) => found.length >= 1);
      await service.changeAsOperator(insider, { state: "disabled" });
      return { acting };
    });
    const answer = await acting;
    expect(answer.status, await answer.text()).toBe(401);
    expect(await attempt.isAsBefore(asOwner, id)).toBe(true);
  });
});

describe("a client that is disabled while its request waits for its turn", () => {
  it("has it refused, although it was authenticated before", async () => {
    const owner = await service.createTenant();
    const ownToken = await service.token(owner);
    const listed = await service.call("GET", "/v1/wallets", ownToken);
    const [wallet] = ((await listed.json()) as { data: { id: string }[] }).data;
    const path = `/v1/wallets/${wallet?.id}/unfreeze`;
    const insider = await service.createIndependentClient(owner, ["wallets:write", "transactions:write"]);
    const accomplice = await service.createIndependentClient(owner, ["wallets:unfreeze"]);
    const { late } = await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM wallets WHERE id = ${readId("wlt", wallet?.id ?? "")} FOR UPDATE`);
      for (let count = 0; count < 10; count++) void service.call("POST", path, accomplice.token);
      await eventually(locksWaiting, (found) => found.length >= 2);
      const late = service.call("POST", "/v1/wallets", insider.token, { name: "late", purpose: "payout" });
      // Once it is in the queue. A stop of the same client does not wait there.
      await service.call("POST", "/v1/transactions/tx_01hw000000e008000000000001/cancel", insider.token);
      await service.changeAsOperator(insider, { state: "disabled" });
      return { late };
    });
    expect((await late).status).toBe(401);
    const after = await service.call("GET", "/v1/wallets", ownToken);
    const { data } = (await after.json()) as { data: { name: string }[] };
    expect(data.map(({ name }) => name)).not.toContain("late");
  });

  it("gets no answer to a long poll, which ends within seconds", async () => {
    const owner = await service.createTenant("10");
    const ownToken = await service.token(owner);
    const reader = await service.createIndependentClient(owner, ["transactions:read"]);
    const body = { reference: "r", asset: "USD", amount: "1" };
    const made = await service.call("POST", "/v1/transactions", ownToken, body, { "idempotency-key": "k" });
    const path = `/v1/transactions/${await idOf(made)}`;
    const settled = await eventually(
      async () => {
        const response = await service.call("GET", path, ownToken);
        const { state } = (await response.json()) as { state: string };
        return { state, tag: response.headers.get("etag") ?? "" };
      },
      ({ state }) => state === "completed",
    );
    const headers = { "if-none-match": settled.tag, prefer: "wait=30" };
    const polling = service.call("GET", path, reader.token, undefined, headers);
    // Its request has arrived before this one is answered.
    expect((await service.call("GET", path, reader.token)).status).toBe(200);
    await service.changeAsOperator(reader, { state: "disabled" });
    const disabledMs = performance.now();
    expect((await polling).status).toBe(401);
    expect(performance.now() - disabledMs).toBeLessThan(8000);
  });
});
