import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { createTrader, type Trader } from "../../harness/markets/trader.js";
import type { TestService } from "../../harness/service/test-service.js";
import { openStream } from "../../harness/stream/stream-client.js";
import { policyOf } from "../../harness/transactions/policy-client.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";
import { startWebhookReceiver, type WebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";
import { type RewindableService, startRewindableService } from "./rewindable-service.js";

/** The data folder is copied, the service goes on, and then the copy is put back under it: what came after the copy is lost. */
describe("a database that goes back in time under a running service", () => {
  let rewindable: RewindableService;
  let service: TestService;
  let receiver: WebhookReceiver;
  let trader: Trader;
  let api: ReturnType<typeof transactionsOf>;

  beforeAll(async () => {
    rewindable = await startRewindableService("rewound");
    ({ service } = rewindable);
    receiver = await startWebhookReceiver();
  });
  afterAll(async () => {
    await rewindable?.stop();
    await receiver?.stop();
  });

  beforeEach(async () => {
    trader = await createTrader(service, { USD: "100000", ETH: "100" });
    api = transactionsOf(service, trader.token);
  });

  const keep = () => rewindable.keep();
  const rewind = () => rewindable.rewind();
  const pay = async (amount = "1") => {
    const { status, text, body } = await api.create({ reference: "r", asset: "USD", amount });
    if (status !== 202) throw new Error(text);
    return await api.settled(body.id);
  };
  interface Page {
    data: { sequence: number }[];
    epoch: string;
  }
  const events = async () => {
    const { status, text, body } = await api.send("GET", "/v1/events?limit=200");
    if (status !== 200) throw new Error(text);
    return body as unknown as Page;
  };

  it("shows the order book that the database has", async () => {
    await trader.placed({ side: "buy", type: "limit", price: "2000.00", size: "1" });
    await keep();
    const kept = await eventually(
      () => trader.book(),
      ({ bids }) => (bids?.length ?? 0) === 1,
    );
    await trader.placed({ side: "buy", type: "limit", price: "2100.00", size: "1" });
    await trader.placed({ side: "sell", type: "limit", price: "3000.00", size: "1" });
    await eventually(
      () => trader.book(),
      ({ bids }) => bids.length === 2,
    );
    await rewind();
    // The book is unavailable until it was loaded again; what it shows then is what the database has.
    const book = await eventually(
      () => trader.book(),
      ({ bids }) => bids !== undefined,
    );
    expect(book).toMatchObject({ bids: kept.bids, asks: kept.asks, sequence: kept.sequence });
    // Sequences of the lost orders are used again, for another book.
    await trader.placed({ side: "sell", type: "limit", price: "4000.00", size: "2" });
    await eventually(
      () => trader.book(),
      ({ asks }) => asks.length === 1 && asks[0]?.[0] === "4000",
    );
    // The engine matches with the order that is in the database.
    const sold = await trader.placed({
      side: "sell",
      type: "market",
      size: "1",
      self_trade: "cancel_oldest",
    });
    expect(["filled", "cancelled"]).toContain(sold.state);
    await eventually(
      () => trader.book(),
      ({ bids }) => bids.length === 0,
    );
  });

  it("tells an order book's tag from the one of the lost book with the same sequence", async () => {
    await keep();
    await trader.placed({ side: "buy", type: "limit", price: "1000.00", size: "1" });
    // The book is unavailable until it was loaded again.
    const lost = await eventually(
      () => trader.send("GET", "/v1/orderbook"),
      ({ status }) => status === 200,
    );
    await rewind();
    const { sequence } = JSON.parse(lost.text);
    // Until the new book is where the lost one was.
    await eventually(
      async () => {
        await trader.placed({ side: "buy", type: "limit", price: "1001.00", size: "1" });
        return await trader.book();
      },
      (book) => book.sequence >= sequence,
    );
    const tag = lost.headers.get("etag") ?? "";
    expect((await trader.send("GET", "/v1/orderbook", undefined, { "if-none-match": tag })).status).toBe(200);
  });

  it("closes streams with a code that says so, and refuses to resume after a lost event", async () => {
    await pay();
    await keep();
    const stream = await openStream(service.url, { token: trader.token });
    stream.send({ type: "subscribe", channel: "events" });
    await stream.next("subscribed");
    const before = (await events()).data.length;
    for (let n = 0; n < 3; n++) await pay();
    await eventually(
      () => stream.sequences().length,
      (count) => count === 3,
    );
    await rewind();
    const { code, reason } = await stream.closed;
    expect([code, reason]).toEqual([4010, "epoch_changed"]);
    const again = await openStream(service.url, { token: trader.token });
    again.send({ type: "subscribe", channel: "events", since: before + 3 });
    expect((await again.next("error")).error.code).toBe("SEQUENCE_AHEAD");
    again.send({ type: "subscribe", channel: "events", since: before });
    await again.next("subscribed");
    await pay();
    await eventually(
      () => again.sequences(),
      (sequences) => sequences.length === 1,
    );
    expect(again.sequences()).toEqual([before + 1]);
    again.ws.close();
  });

  it("answers 422 to an event sequence beyond the end of the log, and changes the epoch", async () => {
    await pay();
    const first = await events();
    const last = first.data.at(-1)?.sequence ?? 0;
    expect((await api.send("GET", `/v1/events?after=${last}`)).status).toBe(200);
    await keep();
    await pay();
    await rewind();
    const beyond = await api.send("GET", `/v1/events?after=${last + 1}`);
    expect([beyond.status, beyond.body.error?.code]).toEqual([422, "SEQUENCE_AHEAD"]);
    const now = await events();
    expect(now.data.map(({ sequence }) => sequence)).toEqual(first.data.map(({ sequence }) => sequence));
    expect(now.epoch).toMatch(/^epo_/);
    expect(now.epoch).not.toBe(first.epoch);
  });

  it("forgets finished transactions, wallets, clients and policies that were lost", async () => {
    const policy = policyOf(service, trader.token);
    await keep();
    const lost = await pay();
    expect((await api.read(lost.id)).status).toBe(200);
    const wallet = await api.send("POST", "/v1/wallets", { name: "lost", purpose: "payout" });
    await eventually(
      async () => (await api.send("GET", `/v1/wallets/${wallet.body.id}`)).body,
      ({ state }) => (state as string) === "active",
    );
    const destination = { wallet_id: wallet.body.id };
    const paid = await api.create({ reference: "r", asset: "USD", amount: "1", destination });
    expect(paid.status).toBe(202);
    const client = await service.createIndependentClient(trader.owner, ["transactions:read"]);
    expect((await service.call("GET", "/v1/me", client.token)).status).toBe(200);
    const replaced = await policy.replace({ rules: [], default: { action: "reject", reason: "lost" } });
    expect(replaced.status).toBe(200);
    await eventually(
      async () => (await api.create({ reference: "r", asset: "USD", amount: "1" })).status,
      (status) => status === 403,
    );
    await rewind();
    expect((await api.read(lost.id)).status).toBe(404);
    const refused = await api.create({ reference: "r", asset: "USD", amount: "1", destination });
    expect([refused.status, refused.body.error?.code]).toEqual([422, "WALLET_UNKNOWN"]);
    expect((await service.call("GET", "/v1/me", client.token)).status).toBe(401);
    expect((await api.create({ reference: "r", asset: "USD", amount: "1" })).status).toBe(202);
  });

  it("answers a conditional request for a version that was lost", async () => {
    const replaced = await policyOf(service, trader.token).replace({
      rules: [
        {
          name: "ask",
          when: { amount: { asset: "USD", min: "0.01" } },
          action: "require_approval",
          approvals: 1,
        },
      ],
      default: { action: "allow" },
    });
    expect(replaced.status).toBe(200);
    const { body } = await api.create({ reference: "r", asset: "USD", amount: "1" });
    const waiting = await eventually(
      () => api.read(body.id),
      ({ body: { state } }) => state === "awaiting_approval",
    );
    await keep();
    await api.send("POST", `/v1/transactions/${body.id}/cancel`);
    const lost = await api.read(body.id);
    expect(lost.body.state).toBe("cancelled");
    await rewind();
    const tag = lost.headers.get("etag") ?? "";
    const again = await api.read(body.id, { "if-none-match": tag });
    expect([again.status, again.body?.state, again.body?.version]).toEqual([
      200,
      "awaiting_approval",
      waiting.body.version,
    ]);
    const approver = await service.createIndependentClient(trader.owner, [
      "transactions:approve",
      "transactions:read",
    ]);
    const { digest } = again.body.approval as { digest: string };
    const decided = { decision: "reject", digest };
    await service.call("POST", `/v1/transactions/${body.id}/approvals`, approver.token, decided);
    const rejected = await api.settled(body.id);
    expect(rejected.state).toBe("rejected");
    expect((await api.read(body.id, { "if-none-match": tag })).status).toBe(200);
  });

  it("delivers every webhook of the database that is there", async () => {
    const hooks = webhooksOf(service, trader.token);
    const path = `/${trader.owner.tenantId}`;
    await hooks.createEndpoint(`${receiver.url}${path}`, ["transaction.updated"]);
    await pay();
    await receiver.arrived(path, 1);
    await keep();
    await pay();
    const early = await receiver.arrived(path, 2);
    for (let n = 0; n < 5; n++) await pay();
    await receiver.arrived(path, 7);
    await rewind();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await pay()).id);
    const after = await eventually(
      () => receiver.received.filter(({ body }) => ids.includes(body.data.transaction?.id)),
      (found) => new Set(found.map(({ body }) => body.data.transaction.id)).size === ids.length,
    );
    expect(after[0]?.headers["webhook-epoch"]).toMatch(/^epo_/);
    expect(after[0]?.headers["webhook-epoch"]).not.toBe(early[0]?.headers["webhook-epoch"]);
    await eventually(
      () => hooks.list("state=pending"),
      (pending) => pending.length === 0,
    );
  });
});
