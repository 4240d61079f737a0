import { type Bursar, createBursar, type FollowedEvent } from "@bursar/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { checksumOf } from "./harness/checksum.js";
import { type StreamService, startStreamService } from "./harness/stream-service.js";

let service: StreamService;
let bursar: Bursar;
let tokens = 0;
/** What waits for longer than a pause between connections: the silence of a connection. */
let onSilence: (() => void) | undefined;

beforeEach(async () => {
  service = await startStreamService(checksumOf);
  tokens = 0;
  onSilence = undefined;
  bursar = createBursar({
    baseUrl: service.url,
    credentials: () => ({ token: `token-${++tokens}`, expiresInSeconds: 900 }),
    WebSocket: WebSocket as never,
    runtime: {
      schedule: (delayMs, run) => {
        if (delayMs > 8000) {
          onSilence = run;
          return () => undefined;
        }
        const timer = setImmediate(run);
        return () => clearImmediate(timer);
      },
    },
  });
});
afterEach(() => service.close());

/** The first so many items; what happens in between is the test's. */
async function take<Item>(
  items: AsyncIterable<Item>,
  count: number,
  onItem?: (item: Item) => void,
): Promise<Item[]> {
  const taken: Item[] = [];
  for await (const item of items) {
    taken.push(item);
    onItem?.(item);
    if (taken.length === count) break;
  }
  return taken;
}

/** Does something after one event. */
const at = (sequence: number, run: () => void) => (item: FollowedEvent) => {
  if (item.type === "event" && item.sequence === sequence) run();
};

const sequencesOf = (items: FollowedEvent[]) =>
  items.map((item) => (item.type === "event" ? item.sequence : item));

describe("events.follow", () => {
  it("begins after since, and goes on with what happens", async () => {
    for (let made = 0; made < 3; made++) service.append();
    const items = await take(
      bursar.events.follow({ since: 1 }),
      3,
      at(3, () => service.append()),
    );
    expect(sequencesOf(items)).toEqual([2, 3, 4]);
    expect(items[0]).toMatchObject({ epoch: "epo_1" });
  });

  it("resumes where it was when connections are cut", async () => {
    service.append();
    const items = await take(bursar.events.follow({ since: 0 }), 30, () => {
      service.cut();
      service.append();
      service.append();
    });
    expect(sequencesOf(items)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    expect(service.connections()).toBeGreaterThan(2);
  });

  it("notices a connection that is silent, and tells", async () => {
    service.append();
    const connected: boolean[] = [];
    const items = await take(
      bursar.events.follow({ since: 0, onConnection: (isConnected) => connected.push(isConnected) }),
      2,
      at(1, () => {
        service.freeze();
        service.append();
        onSilence?.();
      }),
    );
    expect(sequencesOf(items)).toEqual([1, 2]);
    expect(connected).toEqual([true, false, true]);
  });

  it("asks again for an event that was left out", async () => {
    service.append();
    const items = await take(
      bursar.events.follow({ since: 0 }),
      3,
      at(1, () => {
        service.loseNext("event");
        service.append();
        service.append();
      }),
    );
    expect(sequencesOf(items)).toEqual([1, 2, 3]);
  });

  it("yields a gap if the log does not reach back, and then what it has", async () => {
    for (let made = 0; made < 10; made++) service.append();
    service.forget(6);
    const items = await take(bursar.events.follow({ since: 2 }), 5);
    expect(sequencesOf(items)).toEqual([
      { type: "gap", reason: "expired", from: 3, to: 6, epoch: "epo_1" },
      7,
      8,
      9,
      10,
    ]);
  });

  it("yields a gap if the history has changed, and then what is new", async () => {
    for (let made = 0; made < 5; made++) service.append();
    const items = await take(bursar.events.follow({ since: 0 }), 7, (item) => {
      if (item.type === "event" && item.sequence === 5) service.rewind(3);
      if (item.type === "gap") setTimeout(() => service.append(), 50);
    });
    expect(sequencesOf(items)).toEqual([
      1,
      2,
      3,
      4,
      5,
      { type: "gap", reason: "epoch_changed", from: 6, to: undefined, epoch: "epo_2" },
      4,
    ]);
  });

  it("yields a gap for a sequence that the log does not have", async () => {
    const items = await take(bursar.events.follow({ since: 900 }), 2, (item) => {
      if (item.type === "gap") setTimeout(() => service.append(), 50);
    });
    expect(items[0]).toMatchObject({ type: "gap", reason: "epoch_changed", from: 901 });
    expect(items[1]).toMatchObject({ type: "event", sequence: 1 });
  });

  it("selects kinds", async () => {
    service.append("wallet.updated");
    service.append();
    service.append("wallet.updated");
    const items = await take(bursar.events.follow({ since: 0, kinds: ["wallet.updated"] }), 2);
    expect(sequencesOf(items)).toEqual([1, 3]);
  });

  it("sends a new token when it is asked to", async () => {
    service.append();
    await take(
      bursar.events.follow({ since: 0 }),
      2,
      at(1, () => {
        service.askToAuthenticate();
        setTimeout(() => service.append(), 100);
      }),
    );
    expect(service.received.find(({ type }) => type === "authenticate")).toMatchObject({ token: "token-2" });
  });

  it("ends with its signal", async () => {
    const controller = new AbortController();
    service.append();
    const seen: number[] = [];
    for await (const item of bursar.events.follow({ since: 0, signal: controller.signal })) {
      seen.push(item.type === "event" ? item.sequence : 0);
      controller.abort();
    }
    expect(seen).toEqual([1]);
  });
});

describe("orderbook.live", () => {
  it("has the book after each change, across cuts, and recovers from a lost delta on the same connection", async () => {
    service.change("bids", "1999.5", "2");
    service.change("asks", "2000", "1");
    let changes = 0;
    for await (const book of bursar.orderbook.live("ETH-USD")) {
      const { sequence, bids, asks } = service.book();
      if (book.sequence === sequence) expect(book).toMatchObject({ bids, asks });
      if (changes === 60) break;
      changes += 1;
      if (changes % 10 === 0) service.cut();
      if (changes % 7 === 0) service.loseNext("delta");
      service.change("bids", `${1900 + ((changes * 37) % 90)}`, changes % 5 === 0 ? "0" : `${changes}`);
      service.change("asks", `${2001 + ((changes * 31) % 90)}.25`, `${changes}.5`);
    }
    expect(service.received.some(({ type }) => type === "unsubscribe")).toBe(true);
    expect(service.connections()).toBeGreaterThan(3);
  });
});
