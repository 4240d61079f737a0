import { readId, type Scope } from "@bursar/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService } from "../../harness/service/test-service.js";

/** Few connections, so that a tenant needs few requests to occupy its turns. */
const service = await startTestService({ BURSAR_DATABASE_CONNECTIONS: "5" });
afterAll(() => service.stop());

const nobody = "tx_01hw000000e008000000000001";

/** A tenant whose insiders can keep their requests waiting: they unfreeze a wallet whose row the test has locked. */
async function setUp() {
  const owner = await service.createTenant();
  const create = (scopes: readonly Scope[]) => service.createIndependentClient(owner, scopes);
  const insiders = [await create(["wallets:unfreeze"]), await create(["wallets:unfreeze"])];
  const officer = await create([
    "clients:manage",
    "transactions:approve",
    "transactions:write",
    "orders:write",
    "wallets:freeze",
    "wallets:read",
    "wallets:write",
  ]);
  const plain = await create([]);
  const wallets: string[] = [];
  for (const name of ["locked", "to be frozen"]) {
    const made = await service.call("POST", "/v1/wallets", officer.token, { name, purpose: "payout" });
    wallets.push(((await made.json()) as { id: string }).id);
  }
  const [locked = "", wallet = ""] = wallets;
  /** While the insiders' requests hold the turns of their tenant. */
  const whileFlooded = <T>(work: (answers: Promise<Response>[]) => Promise<T>): Promise<T> =>
    service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM wallets WHERE id = ${readId("wlt", locked)} FOR UPDATE`);
      const answers = insiders.flatMap(({ token }) =>
        Array.from({ length: 20 }, () => service.call("POST", `/v1/wallets/${locked}/unfreeze`, token)),
      );
      await eventually(
        () => tx.query(sql`SELECT FROM pg_locks WHERE NOT granted`),
        (locks) => locks.length >= 2,
      );
      return await work(answers);
    });
  return { owner, officer, plain, wallet, whileFlooded };
}

describe("two clients that keep the turns of their tenant busy", () => {
  it("do not delay a colleague that stops something", async () => {
    const { officer, plain, wallet, whileFlooded } = await setUp();
    const stop = async (method: string, path: string, body?: object) =>
      (await service.call(method, path, officer.token, body)).status;
    const digest = "0".repeat(64);
    const { statuses, answers } = await whileFlooded(async (answers) => {
      const statuses = [
        await stop("POST", `/v1/wallets/${wallet}/freeze`),
        await stop("POST", `/v1/transactions/${nobody}/cancel`),
        await stop("POST", `/v1/transactions/${nobody}/approvals`, { decision: "reject", digest }),
        await stop("DELETE", "/v1/orders/ord_01hw000000e008000000000001"),
        await stop("DELETE", `/v1/clients/${plain.clientId}/secrets/sec_01hw000000e008000000000001`),
        await stop("DELETE", `/v1/clients/${plain.clientId}/keys/key_01hw000000e008000000000001`),
        await stop("PATCH", `/v1/clients/${plain.clientId}`, { state: "disabled" }),
      ];
      return { statuses, answers };
    });
    expect(statuses).toEqual([200, 404, 404, 404, 404, 404, 200]);
    expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  it("delay what a colleague reads by one turn, not by all of theirs", async () => {
    const { officer, whileFlooded } = await setUp();
    const order: string[] = [];
    const { answers, read } = await whileFlooded(async (answers) => {
      for (const answer of answers) void answer.then(() => order.push("flood"));
      const read = service.call("GET", "/v1/wallets", officer.token).then((response) => {
        order.push("officer");
        return response;
      });
      // Once its request has joined the queue.
      await service.call("POST", `/v1/transactions/${nobody}/cancel`, officer.token);
      return { answers, read };
    });
    expect((await read).status).toBe(200);
    await Promise.all(answers);
    expect(order.indexOf("officer")).toBeLessThan(15);
  });
});

describe("a tenant whose quota its other clients have used up", () => {
  it("has a reserve for stops, of each client and bounded", async () => {
    const { owner, officer, wallet } = await setUp();
    // So much in debt that no machine is slow enough for them to gain it back.
    await service.database.query(sql`
      INSERT INTO quota_buckets (tenant_id, client_id, class, tokens, at_ms)
      SELECT ${readId("tnt", owner.tenantId)}, '00000000-0000-0000-0000-000000000000', class, -1000000,
        extract(epoch FROM clock_timestamp()) * 1000
      FROM unnest(ARRAY['auth', 'create', 'manage', 'read']) AS class
      ON CONFLICT (tenant_id, client_id, class) DO UPDATE SET tokens = EXCLUDED.tokens, at_ms = EXCLUDED.at_ms
    `);
    // What the process has reserved before is used up first. To freeze a wallet is of the same class.
    const create = () =>
      service.call("POST", "/v1/wallets", officer.token, { name: "another", purpose: "payout" });
    await eventually(create, ({ status }) => status === 429);
    const freeze = () => service.call("POST", `/v1/wallets/${wallet}/freeze`, officer.token);
    expect((await freeze()).status).toBe(200);
    // A client without a token could stop nothing.
    await service.token(officer);
    // The reserve gains tokens meanwhile, on a busy machine as many as forty requests need.
    const statuses = new Set<number>();
    const volley = async () => {
      for (const { status } of await Promise.all(Array.from({ length: 40 }, freeze))) statuses.add(status);
    };
    await eventually(volley, () => statuses.has(429));
    expect(statuses).toEqual(new Set([200, 429]));
  });
});
