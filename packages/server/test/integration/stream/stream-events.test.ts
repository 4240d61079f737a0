import { randomInt, randomUUID } from "node:crypto";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { openStream, type StreamClient } from "../../harness/stream/stream-client.js";

const upTo = (last: number, after = 0) =>
  Array.from({ length: last - after }, (_, index) => after + index + 1);

describe("the events channel", () => {
  // A service of its own: the tests remove events, which an audit of a shared database would report.
  let service: TestService;
  let other: TestService;
  beforeAll(async () => {
    // Forty clients of a tenant read up to two thousand events each, within seconds on a fast machine.
    const settings = { "quotas.read_per_second": "100000", "quotas.read_burst": "100000" };
    service = await startTestService(settings);
    other = await service.another();
  });
  afterAll(async () => {
    await other.stop();
    await service.stop();
  });

  /** A tenant with funds, and functions to create and read events. */
  async function createSubject() {
    const tenant = await service.createTenant("1000");
    const token = await service.token(tenant);
    const head = async () => {
      const rows = await service.call("GET", "/v1/events?limit=200", token);
      return ((await rows.json()) as { data: unknown[] }).data.length;
    };
    // The activations of the two wallets are the first events.
    for (const name of ["one", "two"])
      await service.call("POST", "/v1/wallets", token, { name, purpose: "payout" });
    await eventually(head, (count) => count === 2);
    const pay = async (count: number): Promise<string[]> => {
      const transactions = Array.from({ length: count }, () => ({
        idempotency_key: randomUUID(),
        reference: "stream",
        asset: "USD",
        amount: "0.01",
      }));
      const response = await service.call("POST", "/v1/transactions/batch", token, { transactions });
      const { data } = (await response.json()) as { data: { transaction: { id: string } }[] };
      return data.map(({ transaction }) => transaction.id);
    };
    const open = (url = service.url) => openStream(url, { token });
    return { tenantId: readId("tnt", tenant.tenantId) ?? "", token, head, pay, open };
  }

  const subscribe = async (stream: StreamClient, fields: object = {}) => {
    stream.send({ type: "subscribe", channel: "events", ...fields });
    return await stream.next("subscribed");
  };
  const received = (stream: StreamClient, count: number) =>
    eventually(
      () => stream.sequences().length,
      (length) => length >= count,
    );

  it("sends new events, equal to those in the log", async () => {
    const { token, pay, open } = await createSubject();
    const stream = await open();
    expect(await subscribe(stream)).toMatchObject({ recovered: true, sequence: 2 });
    const [id] = await pay(1);
    const { event } = await stream.next("event");
    expect(event).toMatchObject({
      event: "transaction.updated",
      sequence: 3,
      data: { transaction: { id, state: "completed" }, previous_state: "accepted" },
    });
    const log = await service.call("GET", "/v1/events?after=2", token);
    expect(((await log.json()) as { data: unknown[] }).data).toEqual([event]);
    stream.ws.close();
  });

  it("sends missed events, then new ones, in this process and in another", async () => {
    const { head, pay, open } = await createSubject();
    await pay(10);
    await eventually(head, (count) => count === 12);
    const streams = [await open(), await open(other.url)];
    for (const stream of streams) {
      expect(await subscribe(stream, { since: 5 })).toMatchObject({ recovered: true, sequence: 5 });
    }
    await pay(5);
    for (const stream of streams) {
      await received(stream, 12);
      expect(stream.sequences()).toEqual(upTo(17, 5));
      stream.ws.close();
    }
  });

  it("sends a tenant no events of another", async () => {
    const one = await createSubject();
    const two = await createSubject();
    const stream = await one.open();
    await subscribe(stream, { since: 0 });
    await two.pay(3);
    const [id] = await one.pay(1);
    await received(stream, 3);
    expect(stream.sequences()).toEqual([1, 2, 3]);
    expect(stream.messages.at(-1)?.event.data.transaction?.id).toBe(id);
    stream.ws.close();
  });

  it("sends only the requested kinds and transactions, in history and live", async () => {
    const { pay, open } = await createSubject();
    const early = await pay(4);
    const streams = [await open(), await open(), await open()] as const;
    await subscribe(streams[0], { since: 0, kinds: ["wallet.updated"] });
    await subscribe(streams[1], { since: 0, transaction_ids: [early[1]] });
    await subscribe(streams[2], { since: 0, kinds: ["transaction.updated"] });
    const late = await pay(2);
    await received(streams[2], 6);
    const idsOf = (stream: StreamClient) =>
      stream.messages.filter(({ type }) => type === "event").map(({ event }) => event.data.transaction?.id);
    expect(streams[0].sequences()).toEqual([1, 2]);
    expect(idsOf(streams[1])).toEqual([early[1]]);
    expect(new Set(idsOf(streams[2]))).toEqual(new Set([...early, ...late]));
    for (const { ws } of streams) ws.close();
  });

  it("stops on unsubscribe, and resumes from the requested sequence", async () => {
    const { pay, open } = await createSubject();
    const stream = await open();
    await subscribe(stream);
    stream.send({ type: "unsubscribe", channel: "events" });
    await stream.next("unsubscribed");
    await pay(3);
    await subscribe(stream, { since: 2 });
    await received(stream, 3);
    expect(stream.sequences()).toEqual([3, 4, 5]);
    stream.ws.close();
  });

  it("reports the oldest sequence if the log does not go back that far, and sends only new events", async () => {
    const { tenantId, pay, open } = await createSubject();
    await pay(10);
    const early = await open();
    await subscribe(early, { since: 0 });
    await received(early, 12);
    await service.database.run(`DELETE FROM events WHERE tenant_id = '${tenantId}' AND sequence <= 6`);
    const stream = await open(other.url);
    expect(await subscribe(stream, { since: 5 })).toMatchObject({
      recovered: false,
      sequence: 12,
      oldest_sequence: 7,
    });
    const atTheEdge = await open(other.url);
    expect(await subscribe(atTheEdge, { since: 6 })).toMatchObject({ recovered: true, sequence: 6 });
    await pay(1);
    await received(stream, 1);
    await received(atTheEdge, 7);
    expect(stream.sequences()).toEqual([13]);
    expect(atTheEdge.sequences()).toEqual(upTo(13, 6));
    await service.database.run(`DELETE FROM events WHERE tenant_id = '${tenantId}'`);
    const empty = await open(other.url);
    expect(await subscribe(empty, { since: 3 })).toMatchObject({ recovered: false, oldest_sequence: 14 });
    for (const { ws } of [early, stream, atTheEdge, empty]) ws.close();
  });

  it("has no gap and no repeat for clients that subscribe at any time, in any process", async () => {
    const { pay, open } = await createSubject();
    const total = 2002;
    const joiners: StreamClient[] = [];
    const paying = (async () => {
      for (let paid = 2; paid < total; paid += 100) await pay(100);
    })();
    for (let index = 0; index < 40; index++) {
      const stream = await open(index % 2 === 0 ? service.url : other.url);
      const [last = 0] = joiners[index - 1]?.sequences().slice(-1) ?? [];
      // Before the last event, which may have happened already, so that there is one to wait for.
      await subscribe(stream, { since: randomInt(Math.min(last + 1, total)) });
      joiners.push(stream);
    }
    await paying;
    for (const stream of joiners) {
      const isDone = (last: number | undefined) => last === total;
      await eventually(() => stream.sequences().at(-1), isDone);
      const [first = 0] = stream.sequences();
      expect(stream.sequences()).toEqual(upTo(total, first - 1));
      const subscribed = stream.messages.find(({ type }) => type === "subscribed");
      expect(first).toBe((subscribed?.sequence ?? 0) + 1);
      stream.ws.close();
    }
  });
});
