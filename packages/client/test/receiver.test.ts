import { appendFileSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BursarEvent } from "@bursar/client";
import {
  createReceiver,
  type EventNotification,
  type JournalStore,
  openJournalStore,
  type ReceiverOptions,
  signTestWebhook,
} from "@bursar/client/webhooks";
import { afterEach, describe, expect, it } from "vitest";
import { deliver, logOf, notification, secret } from "./harness/notifications.js";

const stores: JournalStore[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

const newPath = () => join(mkdtempSync(join(tmpdir(), "bursar-receiver-")), "journal.jsonl");

async function start(options: Partial<ReceiverOptions<undefined>> = {}, path = newPath()) {
  const store = await openJournalStore(path, { compactAfterLines: 50 });
  stores.push(store);
  const handled: EventNotification[] = [];
  const receiver = createReceiver({
    secrets: [secret],
    store,
    handle: (one) => {
      handled.push(one);
    },
    ...options,
  });
  return { receiver, handled, path, store };
}

/** A handler that fails until the test changes that. */
function failingHandler() {
  const state = { isFailing: true, calls: 0 };
  const handle = () => {
    state.calls += 1;
    if (state.isFailing) throw new Error("the handler has failed");
  };
  return { state, handle };
}

describe("a receiver", () => {
  it("processes a delivery once, as often as it comes and under any id", async () => {
    const { receiver, handled } = await start();
    expect(await deliver(receiver, notification(1))).toBe(204);
    expect(await deliver(receiver, notification(1))).toBe(204);
    expect(await deliver(receiver, notification(1, "tx_1", 2, "dlv_resent"))).toBe(204);
    expect(handled).toHaveLength(1);
  });

  it("drops a version that is older than one it has processed, within an epoch", async () => {
    const { receiver, handled } = await start();
    await deliver(receiver, notification(2, "tx_1", 3));
    await deliver(receiver, notification(1, "tx_1", 2));
    expect(handled.map(({ sequence }) => sequence)).toEqual([2]);
    await deliver(receiver, notification(3, "tx_1", 2, "dlv_3"), "epo_2");
    expect(handled.map(({ sequence }) => sequence)).toEqual([2, 3]);
  });

  it("answers a challenge and a test without handling them", async () => {
    const { receiver, handled } = await start();
    const challenge = {
      event: "endpoint.challenge",
      delivery_id: "dlv_1",
      sequence: null,
      occurred_at: "2026-11-16T00:00:00Z",
      data: { challenge: "q0m3" },
    } as const;
    const signed = await signTestWebhook({ body: challenge, secrets: [secret] });
    expect(await receiver.receive(signed)).toEqual({ status: 200, body: '{"challenge":"q0m3"}' });
    expect(handled).toEqual([]);
  });

  it("answers 401 to a forged delivery, 400 to what is no webhook, and 503 if it cannot verify", async () => {
    const { receiver, handled } = await start();
    const { headers, rawBody } = await signTestWebhook({ body: notification(1), secrets: [secret] });
    const answers = [
      await receiver.receive({ headers, rawBody: `${rawBody} ` }),
      await receiver.receive({ headers: {}, rawBody }),
      await receiver.receive({ headers, rawBody: JSON.parse(rawBody) }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 400, 503]);
    expect(handled).toEqual([]);
  });

  it("is not created with secrets that can verify nothing", async () => {
    for (const secrets of [[], [""], ["abc"], ["whsec_AAAA"], [secret, "whsec_"]])
      await expect(start({ secrets })).rejects.toMatchObject({ reason: "malformed_secret" });
  });

  it("tries a failing handler again, parks the delivery after ten attempts, and gives it ten more", async () => {
    const { state, handle } = failingHandler();
    let now = Date.now();
    const { receiver } = await start({ handle, runtime: { now: () => now } });
    expect(await deliver(receiver, notification(1))).toBe(202);
    expect(await receiver.processDue()).toBe(0);
    for (let round = 0; round < 20; round++) {
      now += 6 * 60_000;
      await receiver.processDue();
    }
    expect(state.calls).toBe(10);
    expect(await receiver.parked()).toMatchObject([
      { id: "dlv_1", attempts: 10, error: "the handler has failed" },
    ]);
    state.isFailing = false;
    expect(await receiver.retry("dlv_1")).toBe(true);
    expect(await receiver.retry("dlv_1")).toBe(false);
    await receiver.processDue();
    expect(state.calls).toBe(11);
    expect(await receiver.parked()).toEqual([]);
  });

  it("processes after a restart what was stored and not processed", async () => {
    const { handle } = failingHandler();
    const { receiver, path, store } = await start({ handle });
    await deliver(receiver, notification(1));
    await store.close();
    stores.length = 0;
    const next = await start({ runtime: { now: () => Date.now() + 60_000 } }, path);
    await next.receiver.processDue();
    expect(next.handled.map(({ delivery_id }) => delivery_id)).toEqual(["dlv_1"]);
    await deliver(next.receiver, notification(1));
    expect(next.handled).toHaveLength(1);
  });

  it("answers while a slow handler goes on", async () => {
    let finish = () => {};
    const { receiver } = await start({
      handle: () => new Promise<void>((resolve) => (finish = resolve)),
      answerAfterMs: 1,
    });
    expect(await deliver(receiver, notification(1))).toBe(202);
    finish();
  });

  it("counts nothing as missing that is of other kinds, over any number of gaps and pages", async () => {
    const { receiver } = await start({ kinds: ["transaction.updated"] });
    const own = [1, 3, 4, 8, 9, 10, 14, 20];
    const log = Array.from({ length: 20 }, (_, at) => notification(at + 1)).map((one) =>
      own.includes(one.sequence ?? 0) ? one : { ...one, event: "audit.checkpoint" },
    ) as unknown as BursarEvent[];
    const client = logOf(log);
    expect(await receiver.missing(client)).toEqual([]);
    for (const sequence of [1, 8, 14, 20]) await deliver(receiver, notification(sequence));
    expect(await receiver.missing(client)).toEqual([
      { from: 3, to: 4 },
      { from: 9, to: 10 },
    ]);
    for (const sequence of [3, 4, 9, 10]) await deliver(receiver, notification(sequence));
    expect(await receiver.missing(client)).toEqual([]);
  });

  it("shows missing sequences, and reads them and what came after from the log", async () => {
    const { receiver, handled } = await start({ kinds: ["transaction.updated"] });
    for (const sequence of [3, 4, 7]) await deliver(receiver, notification(sequence));
    const log = Array.from({ length: 9 }, (_, at) => notification(at + 1)).map((one) =>
      one.sequence === 6 ? { ...one, event: "wallet.updated" } : one,
    ) as unknown as BursarEvent[];
    const client = logOf(log);
    // 6 is of a kind that it does not handle.
    expect(await receiver.missing(client)).toEqual([{ from: 5, to: 5 }]);
    expect(await receiver.backfill(client)).toBe(3);
    expect(handled.map(({ sequence }) => sequence)).toEqual([3, 4, 7, 5, 8, 9]);
    expect(await receiver.missing(client)).toEqual([]);
    expect(await receiver.backfill(client)).toBe(0);
    // The delivery of an event that was read from the log is known.
    await deliver(receiver, notification(8));
    expect(handled).toHaveLength(6);
  });
});

describe("the journal", () => {
  it("belongs to one process", async () => {
    const { path } = await start();
    await expect(openJournalStore(path)).rejects.toThrow(/Only one process can use the journal/);
  });

  it("drops a line that was cut off, and refuses one that is damaged", async () => {
    const first = await start();
    await deliver(first.receiver, notification(1));
    await first.store.close();
    stores.length = 0;
    appendFileSync(first.path, '{"save":{"id":"dl');
    const second = await start({}, first.path);
    await deliver(second.receiver, notification(1));
    await deliver(second.receiver, notification(2));
    expect(second.handled.map(({ sequence }) => sequence)).toEqual([2]);
    await second.store.close();
    stores.length = 0;
    appendFileSync(first.path, "damaged\n");
    await expect(openJournalStore(first.path)).rejects.toThrow(/damaged in line/);
  });

  it("recognises after a restart the versions of what it has forgotten", async () => {
    let now = Date.now();
    const options = { runtime: { now: () => now }, toleranceSeconds: 1e9 };
    const first = await start(options);
    await deliver(first.receiver, notification(1, "tx_1", 5));
    now += 9 * 24 * 60 * 60_000;
    for (let sequence = 2; sequence <= 40; sequence++) await deliver(first.receiver, notification(sequence));
    expect(await first.store.sequences("epo_1", 0, 1)).toEqual([2]);
    await first.store.close();
    stores.length = 0;
    const second = await start(options, first.path);
    await deliver(second.receiver, notification(1, "tx_1", 5, "dlv_replayed"));
    expect(second.handled).toEqual([]);
  });

  it("is not written as a whole for each delivery, however much it keeps", async () => {
    const { receiver, path } = await start();
    for (let sequence = 1; sequence <= 60; sequence++) await deliver(receiver, notification(sequence));
    const inode = () => statSync(path).ino;
    const files = new Set<number>();
    for (let sequence = 61; sequence <= 80; sequence++) {
      await deliver(receiver, notification(sequence));
      files.add(inode());
    }
    expect(files.size).toBeLessThanOrEqual(2);
  });

  it("is compacted, and forgets what is done after its retention", async () => {
    let now = Date.now();
    const { receiver, handled, path, store } = await start({
      runtime: { now: () => now },
      toleranceSeconds: 1e9,
    });
    for (let sequence = 1; sequence <= 40; sequence++) await deliver(receiver, notification(sequence));
    const lines = () => readFileSync(path, "utf8").split("\n").length - 1;
    expect(lines()).toBeLessThan(80);
    now += 9 * 24 * 60 * 60_000;
    for (let sequence = 41; sequence <= 80; sequence++) await deliver(receiver, notification(sequence));
    // Of 160 lines that were written, one for each resource stays.
    expect(lines()).toBeLessThan(120);
    expect(await store.sequences("epo_1", 0, 1)).toEqual([41]);
    expect(handled).toHaveLength(80);
  });
});
