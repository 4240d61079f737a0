import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { unknownIds } from "../../harness/http/route-requests.js";
import { createTrader, type Trader } from "../../harness/markets/trader.js";
import { sharedService } from "../../harness/service/shared-service.js";
import { openStream, refusedStream, type StreamClient } from "../../harness/stream/stream-client.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

const service = await sharedService();

/** Two tenants on the stream, and every way to read the other's events. A foreign object must be indistinguishable from a missing one. */
describe("the stream of another tenant", () => {
  let owner: Trader;
  let stranger: Trader;
  let foreignTransaction: string;
  const streams: StreamClient[] = [];

  beforeAll(async () => {
    const funds = { USD: "100000", ETH: "100" };
    [owner, stranger] = [await createTrader(service, funds), await createTrader(service, funds)];
    for (let count = 0; count < 5; count++) foreignTransaction = await pay(owner);
    await pay(stranger);
  });
  afterAll(async () => {
    for (const { ws } of streams) ws.terminate();
  });

  const pay = async ({ token }: Trader) => {
    const api = transactionsOf(service, token);
    const { body } = await api.create({ reference: "isolation", asset: "USD", amount: "1" });
    await api.settled(body.id);
    return body.id;
  };
  const open = async (options: Parameters<typeof openStream>[1]) => {
    const stream = await openStream(service.url, options);
    streams.push(stream);
    return stream;
  };
  const idsIn = ({ messages }: StreamClient) =>
    messages.filter(({ type }) => type === "event").map(({ event }) => event.data.transaction?.id);
  /** A response without the fields that differ in every response. */
  const errorOf = async (stream: StreamClient) => {
    const { error, ...rest } = await stream.next("error");
    const { request_id: _, ...said } = error;
    return { ...rest, error: said };
  };

  it("is not received: a subscription from the beginning of the log has the tenant's own events only", async () => {
    const stream = await open({ token: stranger.token });
    stream.send({ type: "subscribe", channel: "events", since: 0 });
    await stream.next("subscribed");
    await pay(owner);
    const last = await pay(stranger);
    while (!idsIn(stream).includes(last)) await stream.next("event");
    const { data } = (await transactionsOf(service, stranger.token).send("GET", "/v1/transactions"))
      .body as unknown as { data: { id: string }[] };
    expect(idsIn(stream).sort()).toEqual(data.map(({ id }) => id).sort());
    expect(stream.sequences()).toEqual(stream.sequences().map((_, index) => index + 1));
  });

  it("cannot be subscribed to by the id of another tenant's transaction, which is answered as unknown", async () => {
    const [asked, missing] = [await open({ token: stranger.token }), await open({ token: stranger.token })];
    for (const [stream, id] of [
      [asked, foreignTransaction],
      [missing, unknownIds["transactions"]],
    ] as const)
      stream.send({ type: "subscribe", channel: "events", since: 0, transaction_ids: [id] });
    expect(await asked.next("subscribed")).toEqual(await missing.next("subscribed"));
    await pay(owner);
    const [follower, last] = [await open({ token: stranger.token }), await pay(stranger)];
    follower.send({ type: "subscribe", channel: "events", since: 0 });
    while (!idsIn(follower).includes(last)) await follower.next("event");
    expect([idsIn(asked), idsIn(missing)]).toEqual([[], []]);
  });

  it("gives no position to resume from: its sequence is refused like any that is ahead of the log", async () => {
    const { body } = await transactionsOf(service, owner.token).send("GET", "/v1/events?limit=200");
    const sequence = (body as unknown as { data: { sequence: number }[] }).data.at(-1)?.sequence ?? 0;
    const stream = await open({ token: stranger.token });
    stream.send({ type: "subscribe", channel: "events", since: sequence });
    const answer = await errorOf(stream);
    expect(answer.error.code).toBe("SEQUENCE_AHEAD");
    stream.send({ type: "subscribe", channel: "events", since: 1_000_000 });
    expect(await errorOf(stream)).toEqual(answer);
  });

  it("cannot be reached by sending its token on an open stream, which is refused like an invalid token", async () => {
    const stream = await open({ token: stranger.token });
    stream.send({ type: "authenticate", token: owner.token });
    const answer = await errorOf(stream);
    expect(answer.error.code).toBe("TOKEN_INVALID");
    stream.send({ type: "authenticate", token: "nonsense" });
    expect(await errorOf(stream)).toEqual(answer);
  });

  it("is opened by its ticket only, and once: a used ticket is refused like an invalid one", async () => {
    const issued = await service.call("POST", "/v1/stream/tickets", owner.token);
    const { ticket } = (await issued.json()) as { ticket: string };
    // A token takes precedence, so a ticket that was injected into another client's URL has no effect and is not used up.
    const own = await open({ ticket, token: stranger.token });
    own.send({ type: "subscribe", channel: "events", since: 0 });
    await own.next("event");
    expect(idsIn(own)).not.toContain(foreignTransaction);
    const stream = await open({ ticket });
    stream.send({ type: "subscribe", channel: "events", since: 0 });
    await stream.next("subscribed");
    while (!idsIn(stream).includes(foreignTransaction)) await stream.next("event");
    const used = await refusedStream(service.url, { ticket });
    const unknown = await refusedStream(service.url, { ticket: "x.y" });
    const { request_id: _, ...usedError } = used.error;
    const { request_id: __, ...unknownError } = unknown.error;
    expect([used.status, usedError]).toEqual([unknown.status, unknownError]);
  });

  it("does not reveal orders, and public market messages name no tenant", async () => {
    const stream = await open({ token: stranger.token });
    const before = stream.messages.length;
    for (const channel of ["events", "orderbook:ETH-USD", "trades:ETH-USD"]) {
      stream.send({ type: "subscribe", channel });
      await stream.next("subscribed");
    }
    const sell = await owner.placed({ side: "sell", price: "3000", size: "0.5" });
    const buy = await stranger.placed({ side: "buy", price: "3000", size: "0.2" });
    await stranger.until(buy.id, ({ state }) => state === "filled");
    await stream.next("trade");
    while (!JSON.stringify(stream.messages).includes('"filled"')) await stream.next("event");
    const told = JSON.stringify(stream.messages.slice(before));
    expect(told).toContain(buy.id);
    for (const secret of [sell.id, owner.owner.tenantId, owner.owner.clientId])
      expect(told).not.toContain(secret);
  });
});
