import { readId } from "@bursar/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { steppingAssets, steppingRail } from "../../harness/rails/stepping-rail.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { startTestService } from "../../harness/service/test-service.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

const service = await inspectSharedService();

interface ShownWallet {
  id: string;
  state: string;
  frozen: boolean;
  version: number;
  role: string | null;
  address: string | null;
  created_by: string | null;
}

describe("wallets", () => {
  let api: ReturnType<typeof transactionsOf>;
  let clientId: string;
  beforeAll(async () => {
    const client = await service.createTenant("100");
    clientId = client.clientId;
    api = transactionsOf(service, await service.token(client));
  });

  const send = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const answer = await api.send(method, path, body, headers);
    return { ...answer, wallet: answer.body as unknown as ShownWallet };
  };

  it("exist for a new tenant: a source and a destination", async () => {
    const { data } = (await send("GET", "/v1/wallets")).body as unknown as { data: ShownWallet[] };
    expect(data.map(({ role, state, created_by }) => [role, state, created_by]).sort()).toEqual([
      ["primary", "active", null],
      ["settlement", "active", null],
    ]);
  });

  it("are accepted and become active, with an event, and name the client that created them", async () => {
    const { status, headers, wallet } = await send("POST", "/v1/wallets", {
      name: "payouts",
      purpose: "payout",
    });
    expect([status, wallet.state, wallet.version]).toEqual([202, "creating", 1]);
    expect([wallet.created_by, wallet.address]).toEqual([clientId, null]);
    expect(headers.get("location")).toBe(`/v1/wallets/${wallet.id}`);
    const active = await eventually(
      async () => (await send("GET", `/v1/wallets/${wallet.id}`)).wallet,
      ({ state }) => state === "active",
    );
    expect(active.version).toBe(2);
    const { data } = (await send("GET", "/v1/events?limit=200")).body as unknown as {
      data: { event: string; data: { wallet?: { id: string; created_by: string } } }[];
    };
    const subjects = data.flatMap(({ data: { wallet: subject } }) =>
      subject?.id === wallet.id ? [subject] : [],
    );
    expect(subjects.map(({ created_by }) => created_by)).toEqual([clientId]);
  });

  it("honour an idempotency key, with the original response", async () => {
    const body = { name: "once", purpose: "deposit" };
    const first = await send("POST", "/v1/wallets", body, { "idempotency-key": "wallet-1" });
    await eventually(
      async () => (await send("GET", `/v1/wallets/${first.wallet.id}`)).wallet.state,
      (state) => state === "active",
    );
    const again = await send("POST", "/v1/wallets", body, { "idempotency-key": "wallet-1" });
    expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
    const other = await send(
      "POST",
      "/v1/wallets",
      { ...body, name: "twice" },
      { "idempotency-key": "wallet-1" },
    );
    expect(other.body.error?.code).toBe("IDEMPOTENCY_KEY_REUSED");
  });

  it.each([
    [{ name: "x", purpose: "fun" }, 400, "INVALID_REQUEST"],
    [{ name: "x", purpose: "payout", network: "dogecoin" }, 422, "NETWORK_UNKNOWN"],
    [{ purpose: "payout" }, 400, "INVALID_REQUEST"],
  ])("refuse %j", async (body, status, code) => {
    const answer = await send("POST", "/v1/wallets", body);
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
  });

  it("send nothing while they are frozen", async () => {
    const { data } = (await send("GET", "/v1/wallets")).body as unknown as { data: ShownWallet[] };
    const primary = data.find(({ role }) => role === "primary")?.id ?? "";
    expect((await send("POST", `/v1/wallets/${primary}/freeze`)).wallet).toMatchObject({
      frozen: true,
      version: 2,
    });
    expect((await send("POST", `/v1/wallets/${primary}/freeze`)).wallet).toMatchObject({
      frozen: true,
      version: 2,
    });
    const { body } = await api.create({ reference: "frozen", asset: "USD", amount: "1" });
    expect(await api.settled(body.id)).toMatchObject({ state: "failed", failure: { code: "WALLET_FROZEN" } });
    expect((await send("POST", `/v1/wallets/${primary}/unfreeze`)).wallet).toMatchObject({
      frozen: false,
      version: 3,
    });
    const again = await api.create({ reference: "thawed", asset: "USD", amount: "1" });
    expect(await api.settled(again.body.id)).toMatchObject({ state: "completed" });
  });

  it("pay nothing more while a freeze waits for payments, so that these cannot delay it without end", async () => {
    const owner = await service.createTenant("100");
    const { tenantId } = owner;
    const own = transactionsOf(service, await service.token(owner));
    const { data } = (await own.send("GET", "/v1/wallets")).body as unknown as { data: ShownWallet[] };
    const primary = data.find(({ role }) => role === "primary")?.id ?? "";
    const key = sql`tenant_id = ${readId("tnt", tenantId)} AND id = ${readId("wlt", primary)}`;
    const freezing = await service.database.transaction(async (tx) => {
      // As a batch of payments that takes long.
      await tx.query(sql`SELECT FROM wallets WHERE ${key} FOR SHARE`);
      const freeze = own.send("POST", `/v1/wallets/${primary}/freeze`);
      await eventually(
        () =>
          service.database.query(
            sql`SELECT FROM requested_freezes f JOIN wallets USING (tenant_id) WHERE ${key}`,
          ),
        (requested) => requested.length === 1,
      );
      const { body } = await own.create({ reference: "late", asset: "USD", amount: "1" });
      expect(await own.settled(body.id)).toMatchObject({
        state: "failed",
        failure: { code: "WALLET_FROZEN" },
      });
      return { freeze };
    });
    expect((await freezing.freeze).body).toMatchObject({ frozen: true });
    const left = await service.database.query(sql`
      SELECT FROM requested_freezes WHERE tenant_id = ${readId("tnt", tenantId)}`);
    expect(left).toEqual([]);
    expect((await own.send("POST", `/v1/wallets/${primary}/unfreeze`)).body).toMatchObject({ frozen: false });
    const again = await own.create({ reference: "thawed", asset: "USD", amount: "1" });
    expect(await own.settled(again.body.id)).toMatchObject({ state: "completed" });
  });

  it("that are frozen before they are active become active once, and their events show both", async () => {
    const other = transactionsOf(service, await service.token(await service.createTenant("1")));
    const ask = async <Answer>(method: string, path: string, body?: object) =>
      (await other.send(method, path, body)).body as unknown as Answer;
    const frozen = await Promise.all(
      Array.from({ length: 10 }, async (_, number) => {
        const created = { name: `cold ${number}`, purpose: "payout" };
        const { id } = await ask<ShownWallet>("POST", "/v1/wallets", created);
        expect(await ask<ShownWallet>("POST", `/v1/wallets/${id}/freeze`)).toMatchObject({ frozen: true });
        return id;
      }),
    );
    for (const id of frozen)
      await eventually(
        () => ask<ShownWallet>("GET", `/v1/wallets/${id}`),
        ({ state }) => state === "active",
      );
    type Changes = {
      data: { data: { wallet?: ShownWallet; previous_state: string; previous_frozen: boolean } }[];
    };
    const { data } = await ask<Changes>("GET", "/v1/events?limit=200");
    for (const id of frozen) {
      const own = data.flatMap((event) => (event.data.wallet?.id === id ? [event.data] : []));
      // The freeze and the activation come in either order; each is one event and changes one thing.
      const changes = own.map(
        ({ previous_state, previous_frozen, wallet }) =>
          `${previous_state} ${previous_frozen} to ${wallet?.state} ${wallet?.frozen}`,
      );
      expect([
        ["creating false to creating true", "creating true to active true"],
        ["creating false to active false", "active false to active true"],
      ]).toContainEqual(changes);
    }
    await ask("POST", `/v1/wallets/${frozen[0]}/unfreeze`);
    const later = await ask<Changes>("GET", "/v1/events?limit=200");
    expect(later.data.at(-1)?.data).toMatchObject({
      wallet: { frozen: false },
      previous_state: "active",
      previous_frozen: true,
    });
  });

  it("of a rail that activates them later are not activated by a freeze, nor by the engine", async () => {
    const later = { ...steppingRail, activatesWalletsAtOnce: false };
    const own = await startTestService({}, undefined, undefined, {
      parts: [{ rail: later }],
      assets: steppingAssets,
    });
    const api = transactionsOf(own, await own.token(await own.createTenant()));
    const ask = async (method: string, path: string, body?: object) =>
      (await api.send(method, path, body)).body as unknown as ShownWallet;
    const { id } = await ask("POST", "/v1/wallets", { name: "n", purpose: "deposit", network: "test:steps" });
    const { id: onBook } = await ask("POST", "/v1/wallets", { name: "b", purpose: "deposit" });
    await eventually(
      () => ask("GET", `/v1/wallets/${onBook}`),
      ({ state }) => state === "active",
    );
    expect(await ask("POST", `/v1/wallets/${id}/freeze`)).toMatchObject({ state: "creating", frozen: true });
    expect(await ask("GET", `/v1/wallets/${id}`)).toMatchObject({ state: "creating", version: 2 });
    await own.stop();
  });

  it("send nothing while a freeze is being committed: the engine waits for it", async () => {
    const { data } = (await send("GET", "/v1/wallets")).body as unknown as { data: ShownWallet[] };
    const primary = readId("wlt", data.find(({ role }) => role === "primary")?.id ?? "") ?? "";
    const setFrozen = (frozen: boolean) => sql`UPDATE wallets SET frozen = ${frozen} WHERE id = ${primary}`;
    const id = await service.database.transaction(async (freeze) => {
      await freeze.query(setFrozen(true));
      const { body } = await api.create({ reference: "frozen meanwhile", asset: "USD", amount: "1" });
      await eventually(
        () =>
          service.database.query(sql`
            SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          `),
        (waiting) => waiting.length > 0,
      );
      return body.id;
    });
    expect(await api.settled(id)).toMatchObject({ state: "failed", failure: { code: "WALLET_FROZEN" } });
    await service.database.query(setFrozen(false));
  });

  it("are listed by purpose, state, network and frozen", async () => {
    const list = async (query: string) => {
      const { data } = (await send("GET", `/v1/wallets?${query}`)).body as unknown as {
        data: { role: string | null }[];
      };
      return data.map(({ role }) => role);
    };
    expect(await list("purpose=settlement")).toEqual(["settlement"]);
    expect(await list("frozen=true")).toEqual([]);
    expect(await list("frozen=false&purpose=treasury&state=active&network=book")).toEqual(["primary"]);
    expect((await send("GET", "/v1/wallets?purpose=fun")).status).toBe(400);
  });

  it.each(["wlt_01h455vb4pex5vsknk084sn02q", "x"])("are not found as %s", async (id) => {
    const answer = await send("GET", `/v1/wallets/${id}`);
    expect([answer.status, answer.body.error?.code]).toEqual([404, "WALLET_NOT_FOUND"]);
  });
});
