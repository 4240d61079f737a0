import { randomUUID } from "node:crypto";
import type { AuditEntry, Event } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";
import { createPolicyTenant } from "../../../harness/transactions/policy-client.js";
import { transactionsOf } from "../../../harness/transactions/transactions-client.js";

const service = await inspectSharedService();

const payment = { reference: "who", asset: "USD", amount: "1" };

describe("who did what", () => {
  let owner: TestClient;
  let token: string;
  beforeEach(async () => {
    owner = await service.createTenant("1000");
    token = await service.token(owner);
  });

  const audit = async (): Promise<AuditEntry[]> => {
    const { data } = (await (await service.call("GET", "/v1/audit?limit=200", token)).json()) as {
      data: AuditEntry[];
    };
    return data;
  };
  /** The entries of an action, once they name this many objects. */
  const entriesOf = (action: string, objects: number) =>
    eventually(
      async () => (await audit()).filter((entry) => entry.action === action),
      (found) => found.reduce((sum, { repeated }) => sum + repeated, 0) === objects,
    );
  const events = async (): Promise<Event[]> =>
    ((await (await service.call("GET", "/v1/events?limit=200", token)).json()) as { data: Event[] }).data;
  const client = async (scopes: string[]) => {
    const body = { name: "second", scopes };
    const created = (await (await service.call("POST", "/v1/clients", token, body)).json()) as {
      id: string;
      secret: string;
    };
    return {
      clientId: created.id,
      token: await service.token({ clientId: created.id, secret: created.secret }),
    };
  };
  const byOwner = () => ({
    actor: "client",
    client_id: owner.clientId,
    token_id: expect.stringMatching(/^tok_/),
    outcome: "succeeded",
    address: "127.0.0.1",
  });

  it("every transaction that is created leaves an audit entry, also those of a batch", async () => {
    const { create, send } = transactionsOf(service, token);
    const single = await create(payment);
    const items = Array.from({ length: 150 }, () => ({ ...payment, idempotency_key: randomUUID() }));
    const { body } = await send("POST", "/v1/transactions/batch", { transactions: items });
    const { data } = body as unknown as { data: { transaction: { id: string } }[] };
    const entries = await entriesOf("transaction.create", 151);
    expect(entries[0]).toMatchObject(byOwner());
    const named = new Set(entries.flatMap(({ objects }) => objects));
    expect(named).toEqual(new Set([single.body.id, ...data.map(({ transaction }) => transaction.id)]));
    expect(entries.length).toBeLessThanOrEqual(6);
  });

  it("a repeated request leaves no second entry", async () => {
    const { create } = transactionsOf(service, token);
    await create(payment, "one-key");
    await create(payment, "one-key");
    await create(payment, "another-key");
    await entriesOf("transaction.create", 2);
  });

  it("creating a wallet and freezing it leave entries at once", async () => {
    const { send } = transactionsOf(service, token);
    const { id } = (await send("POST", "/v1/wallets", { name: "w", purpose: "payout" })).body;
    await send("POST", `/v1/wallets/${id}/freeze`);
    const entries = (await audit()).filter(({ object }) => object === id);
    expect(entries.map(({ action }) => action)).toEqual(["wallet.freeze", "wallet.create"]);
    expect(entries[1]).toMatchObject({ ...byOwner(), objects: [id] });
  });

  it("items of a batch that the policy refuses leave an entry with their number", async () => {
    const tenant = await createPolicyTenant(service);
    owner = tenant.owner;
    token = tenant.token;
    await tenant.usePolicy({ rules: [], default: { action: "reject", reason: "no" } });
    const items = Array.from({ length: 7 }, () => ({ ...payment, idempotency_key: randomUUID() }));
    const { status } = await transactionsOf(service, token).send("POST", "/v1/transactions/batch", {
      transactions: items,
    });
    expect(status).toBe(202);
    const entries = await entriesOf("POST /v1/transactions/batch", 7);
    expect(entries).toMatchObject([
      { ...byOwner(), outcome: "refused", code: "POLICY_REJECTED", repeated: 7 },
    ]);
  });

  it("the event, the history and the audit log name the client that cancelled a transaction", async () => {
    const tenant = await createPolicyTenant(service);
    owner = tenant.owner;
    token = tenant.token;
    await tenant.usePolicy({
      rules: [
        {
          name: "ask",
          when: { amount: { asset: "USD", min: "1" } },
          action: "require_approval",
          approvals: 1,
        },
      ],
      default: { action: "allow" },
    });
    const { id } = (await transactionsOf(service, token).create(payment)).body;
    const { read } = transactionsOf(service, token);
    await eventually(
      async () => (await read(id)).body.state,
      (state) => state === "awaiting_approval",
    );
    const other = await client(["transactions:write", "transactions:read"]);
    expect(
      (await transactionsOf(service, other.token).send("POST", `/v1/transactions/${id}/cancel`)).status,
    ).toBe(202);
    const actor = { type: "client", client_id: other.clientId };
    const { history, created_by } = (await read(id)).body;
    expect(created_by).toBe(owner.clientId);
    expect(history.at(-1)).toMatchObject({ state: "cancelled", actor });
    const [asked, cancelled] = (await events()).filter(({ event }) => event === "transaction.updated");
    expect(asked?.actor).toEqual({ type: "service", client_id: null });
    expect(cancelled?.actor).toEqual(actor);
    expect(await entriesOf("transaction.cancel", 1)).toMatchObject([
      { client_id: other.clientId, object: id },
    ]);
  });

  it("lists transactions by the client that created them", async () => {
    const other = await client(["transactions:write", "transactions:read"]);
    const { create, send } = transactionsOf(service, token);
    await create(payment);
    const made = await transactionsOf(service, other.token).create(payment);
    const list = async (query: string) =>
      (
        (await send("GET", `/v1/transactions?${query}`)).body as unknown as { data: { id: string }[] }
      ).data.map(({ id }) => id);
    await transactionsOf(service, token).settled(made.body.id);
    expect(await list(`client_id=${other.clientId}`)).toEqual([made.body.id]);
    expect(await list(`client_id=${other.clientId}&state=completed`)).toEqual([made.body.id]);
    expect(await list(`client_id=${other.clientId}&state=failed`)).toEqual([]);
    expect(await list(`client_id=${owner.clientId}&reference=who`)).toHaveLength(1);
    expect((await send("GET", "/v1/transactions?client_id=nobody")).status).toBe(400);
  });
});
