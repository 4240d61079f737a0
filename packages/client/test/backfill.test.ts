import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BursarEvent } from "@bursar/client";
import { createReceiver, openJournalStore } from "@bursar/client/webhooks";
import { expect, it, onTestFinished } from "vitest";
import { deliver, logOf, notification, secret } from "./harness/notifications.js";

const dayMs = 24 * 60 * 60_000;

async function start() {
  const path = join(mkdtempSync(join(tmpdir(), "bursar-backfill-")), "journal.jsonl");
  const store = await openJournalStore(path, { compactAfterLines: 10 });
  onTestFinished(() => store.close());
  const clock = { now: Date.now() };
  const handled: number[] = [];
  const receiver = createReceiver({
    secrets: [secret],
    store,
    runtime: { now: () => clock.now },
    handle: ({ sequence }) => {
      handled.push(sequence);
    },
  });
  return { receiver, handled, store, clock };
}

/** Events of a kind that has no version, so that only the store can recognise them. */
function eventOf(sequence: number, occurredAtMs: number): BursarEvent {
  const occurred_at = new Date(occurredAtMs).toISOString();
  return {
    ...notification(sequence),
    event: "audit.checkpoint",
    occurred_at,
    data: { checkpoint: {} },
  } as unknown as BursarEvent;
}

const sequencesTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

it("an empty store is filled with all that the log has", async () => {
  const { receiver, handled, clock } = await start();
  expect(await receiver.backfill(logOf(sequencesTo(3).map((at) => eventOf(at, clock.now))))).toBe(3);
  expect(handled).toEqual([1, 2, 3]);
});

it("an empty store can begin at the present, and remembers where that was", async () => {
  const { receiver, handled, clock } = await start();
  const log = (count: number) => logOf(sequencesTo(count).map((at) => eventOf(at, clock.now)));
  expect(await receiver.skipHistory(log(3))).toBe(true);
  expect(await receiver.backfill(log(3))).toBe(0);
  // It was down when the next came, and is started in the same way.
  expect(await receiver.skipHistory(log(5))).toBe(false);
  expect(await receiver.missing(log(5))).toEqual([]);
  expect(await receiver.backfill(log(5))).toBe(2);
  expect(handled).toEqual([4, 5]);
});

it("what was forgotten is neither missing nor read again, also beside a delivery that is parked", async () => {
  const { receiver, handled, store, clock } = await start();
  const log = logOf(sequencesTo(30).map((at) => eventOf(at, clock.now)));
  await store.save(
    {
      id: "parked",
      eventKey: "parked",
      epoch: "epo_1",
      sequence: 1,
      subject: null,
      version: null,
      body: "{}",
    },
    "pending",
    clock.now,
  );
  await store.fail("parked", "it has failed", undefined);
  await receiver.backfill(log, { since: 1 });
  clock.now += 9 * dayMs;
  for (let sequence = 31; sequence <= 60; sequence++)
    await deliver(receiver, notification(sequence), "epo_1", clock.now);
  expect(await store.sequences("epo_1", 1, 1)).toEqual([31]);
  expect(await receiver.missing(log)).toEqual([]);
  handled.length = 0;
  expect(await receiver.backfill(log)).toBe(0);
  expect(handled).toEqual([]);
});

it("after a restore the log is read again, but not what was processed before and may be forgotten", async () => {
  const { receiver, handled, clock } = await start();
  const old = sequencesTo(20).map((at) => eventOf(at, clock.now));
  await receiver.backfill(logOf(old));
  clock.now += 90 * dayMs;
  for (let sequence = 21; sequence <= 40; sequence++)
    await deliver(receiver, notification(sequence), "epo_1", clock.now);
  handled.length = 0;
  // The backup had 20 events; the sequence 21 is used again.
  expect(await receiver.backfill(logOf([...old, eventOf(21, clock.now)], "epo_2"))).toBe(1);
  expect(handled).toEqual([21]);
});
