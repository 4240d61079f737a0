import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { createSealing } from "../../../src/credentials/sealing.js";
import { makeTokenKey } from "../../../src/credentials/token-keys.js";
import { type Database, withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { readQueues } from "../../../src/store/metrics/read-queues.js";
import {
  auditRecovery,
  listRecoveredMarkets,
  listRecoveredTenants,
  recoverDatabase,
} from "../../../src/store/recovery/recover-database.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader, findViolations, type Trader, tradingAs } from "../../harness/markets/trader.js";
import { callConsole, cookieOf, registerWith, tokenOf } from "../../harness/people/log-in.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { openStream } from "../../harness/stream/stream-client.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";
import { startWebhookReceiver, type WebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

interface Page {
  data: { sequence: number }[];
  epoch: string;
  error?: { code: string; message: string };
}

describe("a recovery after a restore", () => {
  let service: TestService;
  let receiver: WebhookReceiver;
  let database: Database;

  beforeAll(async () => {
    service = await startTestService();
    receiver = await startWebhookReceiver();
    database = withKeys(service.database, service.keys);
  });
  afterAll(async () => {
    await receiver?.stop();
    await service?.stop();
  });

  /** What `bursar recover` does. */
  const recover = async (key: string, lift = 1000, past = 0) => {
    const sealing = createSealing(createKeyring([service.masterKey]));
    const tokenKey = makeTokenKey(sealing, crypto.randomUUID(), Date.now());
    const now = new Date();
    const epoch = await recoverDatabase(database, { key, lift, past, tokenKey, now });
    await database.identify().catch(() => undefined);
    await auditRecovery(database, epoch.id, now);
    if (!epoch.isRepeated) await untilNoticed(epoch.id);
    return epoch;
  };
  /** The service has dropped what it had in memory, and serves again. */
  const untilNoticed = async (epochId: string) => {
    await eventually(
      () => service.logLines.some((line) => line.includes(epochId)),
      (isLogged) => isLogged,
    );
    await eventually(
      async () => (await service.call("GET", "/readyz", undefined)).status,
      (status) => status === 200,
    );
  };
  const events = async (trader: Pick<Trader, "send">, after = 0) =>
    (await trader.send("GET", `/v1/events?after=${after}&limit=200`)).body as unknown as Page;
  const pay = async (trader: Trader) => {
    const api = transactionsOf(service, trader.token);
    const { status, text, body } = await api.create({ reference: "r", asset: "USD", amount: "1" });
    if (status !== 202) throw new Error(text);
    return await api.settled(body.id);
  };

  it("ends streams and tokens, skips the lost sequences, and lets readers cross the gap", async () => {
    const before = await createTrader(service, { USD: "100000", ETH: "100" });
    await pay(before);
    await before.placed({ side: "sell", type: "limit", price: "2000.00", size: "1" });
    const { data, epoch } = await events(before);
    const kept = data.at(-1)?.sequence ?? 0;
    const stream = await openStream(service.url, { token: before.token });

    await recover("gap");
    expect((await stream.closed).code).toBe(4010);
    expect((await service.call("GET", "/v1/me", before.token)).status).toBe(401);

    const after = await tradingAs(service, before.owner);
    const paid = await pay(after);
    const page = await events(after, kept);
    expect(page.epoch).not.toBe(epoch);
    expect(page.data[0]?.sequence).toBe(kept + 1001);
    expect(paid.state).toBe("completed");
    const lost = await after.send("GET", `/v1/events?after=${kept + 5}`);
    expect([lost.status, lost.body.error?.code]).toEqual([422, "SEQUENCE_AHEAD"]);
    expect(lost.body.error?.message).toContain(`from ${kept + 1} to ${kept + 1000}`);

    const resumed = await openStream(service.url, { token: after.token });
    resumed.send({ type: "subscribe", channel: "events", since: kept + 5 });
    expect((await resumed.next("error")).error.code).toBe("SEQUENCE_AHEAD");
    resumed.send({ type: "subscribe", channel: "events", since: kept - 1 });
    await eventually(
      () => resumed.sequences(),
      (sequences) => sequences.length >= 2,
    );
    expect(resumed.sequences().slice(0, 2)).toEqual([kept, kept + 1001]);
    await pay(after);
    await eventually(
      () => resumed.sequences(),
      (sequences) => sequences.includes(kept + 1002),
    );
    resumed.ws.close();
    expect(await findViolations(service)).toEqual([]);
  });

  it("ends the sessions of people, whose ends may have been lost", async () => {
    const owner = await service.createTenant();
    const body = { email: "ada@x.example", name: "Ada", role: "viewer" };
    const invited = await service.call("POST", "/v1/people", await service.token(owner), body);
    const { invitation } = (await invited.json()) as { invitation: { url: string } };
    const { cookie } = await registerWith(service, invitation.url);
    await tokenOf(service, cookie);
    await recover("sessions");
    const answer = await callConsole(service, "POST", "/token", undefined, cookieOf(cookie));
    expect([answer.status, answer.code]).toEqual([401, "SESSION_REQUIRED"]);
  });

  it("goes on in markets with higher sequences", async () => {
    const seller = await createTrader(service, { ETH: "10" });
    const buyer = await createTrader(service, { USD: "100000" });
    await seller.placed({ side: "sell", type: "limit", price: "1500.00", size: "2" });
    await buyer.placed({ side: "buy", type: "limit", price: "1500.00", size: "1" });
    const book = await eventually(
      () => seller.book(),
      ({ asks }) => asks.length > 0,
    );
    const [market] = (await listRecoveredMarkets(database)).filter(({ market }) => market === "ETH-USD");
    await recover("markets", 5000);
    const again = await tradingAs(service, buyer.owner);
    const stream = await openStream(service.url, { token: again.token });
    stream.send({ type: "subscribe", channel: "trades:ETH-USD", since: market?.tradeSequence });
    await stream.next("subscribed");
    const bought = await again.placed({ side: "buy", type: "limit", price: "1500.00", size: "1" });
    expect(bought.state).toBe("filled");
    const { trade } = (await stream.next("trade")) as unknown as { trade: { sequence: number } };
    expect(trade.sequence).toBe((market?.tradeSequence ?? 0) + 5001);
    await eventually(
      () => again.book(),
      ({ sequence }) => sequence >= book.sequence + 5000,
    );
    stream.ws.close();
    expect(await findViolations(service)).toEqual([]);
  });

  it("leaves no backlog in a market that gets no order afterwards", async () => {
    const trader = await createTrader(service, { ETH: "10" });
    await trader.placed({ side: "sell", type: "limit", price: "1600.00", size: "1" });
    const backlog = async () => {
      const { markets } = await readQueues(database, ["ETH-USD"], new Date());
      return markets.map(({ commands }) => commands);
    };
    await eventually(backlog, ([count]) => count === 0);
    await recover("idle", 7000);
    expect(await backlog()).toEqual([0]);
    const unlike = sql`SELECT market FROM markets WHERE applied_sequence <> admitted_sequence OR admitted_sequence < 7000`;
    expect(await database.query(unlike)).toEqual([]);
    // Commands that wait keep their sequences, so only what was executed can tell how many they are.
    await database.query(sql`UPDATE markets SET admitted_sequence = admitted_sequence + 7000`);
    expect(await backlog()).toEqual([0]);
    await database.query(sql`UPDATE markets SET admitted_sequence = applied_sequence`);
    expect(await findViolations(service)).toEqual([]);
  });

  it("is done once for each key, lists what to tell receivers, and is in the tenant's audit log", async () => {
    const trader = await createTrader(service, { USD: "1000" });
    const hooks = webhooksOf(service, trader.token);
    const url = `${receiver.url}/${trader.owner.tenantId}`;
    const endpoint = await hooks.createEndpoint(url, ["transaction.updated"]);
    await pay(trader);
    const first = await recover("once", 0, 10_000_000);
    const second = await recover("once", 0, 20_000_000);
    expect(second).toEqual({ id: first.id, isRepeated: true });
    const listed = await listRecoveredTenants(database, first.id, undefined);
    const mine = listed.find(({ id }) => id === trader.owner.client.tenantId);
    expect(mine).toMatchObject({ lifted: 10_000_000, endpoints: [{ url }] });
    expect(endpoint.url).toBe(url);
    const again = await tradingAs(service, trader.owner);
    await pay(again);
    await eventually(
      () => receiver.received.filter(({ body }) => body.sequence === 10_000_001),
      (arrived) => arrived.length > 0,
    );
    const { data } = (await again.send("GET", "/v1/audit")).body as unknown as {
      data: { action: string; actor: string }[];
    };
    expect(data.filter(({ action }) => action === "database.recover")).toHaveLength(1);
    expect(await findViolations(service)).toEqual([]);
  });
});
