import { setTimeout as sleep } from "node:timers/promises";
import { createBook, type Effect } from "@bursar/domain";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { LevelChangeRow } from "../../../src/app/markets/market-store.js";
import { createSeededRandom } from "../../../src/markets/quotes.js";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { createLocalBook } from "../../harness/markets/local-book.js";
import { startTestService, type TestClient, type TestService } from "../../harness/service/test-service.js";
import { openStream } from "../../harness/stream/stream-client.js";

/** Short and long sizes are in tools/proofs/proofs.mjs. */
const deltasWanted = Number(process.env["BURSAR_DELTAS"]);
const timeoutMs = 300_000 + deltasWanted * 20;
const pageOfDeltas = 100;

let first: TestService;
let second: TestService;
let owner: TestClient;
beforeAll(async () => {
  first = await startTestService();
  second = await first.another();
  owner = await first.createTenant();
});
afterAll(async () => {
  await second.stop();
  await first.stop();
});

it(
  "clients that are disconnected repeatedly and resume at either of two services have the book at every change",
  async () => {
    const changes = createChanges();
    const load = { isOn: true };
    const books = [createLocalBook(), createLocalBook(), createLocalBook()];
    const following = books.map((book, index) => follow(book, index, load));
    await eventually(() => books.every((book) => book.sequence() !== undefined), Boolean);
    for (let written = 0; written < deltasWanted; written += pageOfDeltas) {
      await writeDeltas(Array.from({ length: Math.min(pageOfDeltas, deltasWanted - written) }, changes.next));
      // Not further ahead than the kept history, because otherwise every resume would be a snapshot.
      await eventually(
        () => Math.min(...books.map((book) => book.sequence() ?? 0)),
        (sequence) => sequence >= written - 5 * pageOfDeltas,
        timeoutMs,
      );
    }
    await eventually(
      () => Math.min(...books.map((book) => book.sequence() ?? 0)),
      (sequence) => sequence === deltasWanted,
      timeoutMs,
    );
    load.isOn = false;
    const cuts = await Promise.all(following);
    for (const book of books) {
      expect(book.faults).toEqual([]);
      expect([book.levels("bids"), book.levels("asks")]).toEqual(changes.levels());
      expect(book.counts().deltas).toBeGreaterThan(deltasWanted * 0.9);
    }
    expect(Math.min(...cuts)).toBeGreaterThan(1);
  },
  timeoutMs * 2,
);

/** Follows the book, is disconnected at random times, and resumes at another service. Returns the number of disconnects. */
async function follow(
  book: ReturnType<typeof createLocalBook>,
  start: number,
  load: { isOn: boolean },
): Promise<number> {
  let cuts = 0;
  for (; load.isOn; cuts++) {
    const service = (start + cuts) % 2 === 0 ? first : second;
    const stream = await openStream(service.url, { token: await service.token(owner) });
    stream.ws.on("message", (data) => {
      const message = JSON.parse(String(data));
      if (message.type === "snapshot" || message.type === "delta") book.take(message);
    });
    const since = book.sequence();
    const channel = "orderbook:ETH-USD";
    stream.send({ type: "subscribe", channel, ...(since === undefined ? {} : { since }) });
    await sleep(100 + Math.random() * 900);
    stream.ws.terminate();
    await stream.closed;
  }
  return cuts;
}

/** Writes changes as the matching engine does. There are no trades, so that there can be many changes. */
async function writeDeltas(deltas: readonly { sequence: number; changes: readonly LevelChangeRow[] }[]) {
  await first.database.query(sql`
    WITH added AS (
      INSERT INTO market_deltas (market, sequence, previous_sequence, changes, occurred_at)
      SELECT 'ETH-USD', sequence, sequence - 1, changes, now() FROM unnest(
        ${deltas.map(({ sequence }) => sequence)}::bigint[],
        ${deltas.map(({ changes }) => JSON.stringify(changes))}::jsonb[]
      ) AS written (sequence, changes)
      RETURNING sequence
    )
    UPDATE markets SET level_sequence = (SELECT max(sequence) FROM added) WHERE market = 'ETH-USD'
  `);
}

/** Generates level changes from random orders; each call returns the next one. */
function createChanges() {
  const random = createSeededRandom(5);
  const whole = (max: number) => Math.floor(random() * max);
  const book = createBook();
  const effects: Effect[] = [];
  let number = 0;
  const named = (which: number) => ({ number: which, id: String(which) });
  let sequence = 0;
  const shown = (price: number, size: number) => [String(price), (size / 100).toFixed(2)];
  return {
    next: (): { sequence: number; changes: readonly LevelChangeRow[] } => {
      for (;;) {
        number += 1;
        const side = whole(2) === 0 ? "buy" : "sell";
        const price = 3000 + whole(60) - 30 + (side === "buy" ? -6 : 6);
        const order = { ...named(number), owner: String(whole(50)), selfTrade: "cancel_oldest" } as const;
        if (whole(3) === 0) book.apply({ kind: "cancel", ...named(number - 1 - whole(200)) }, effects);
        else
          book.apply(
            { kind: "place_limit", ...order, side, price, size: 1 + whole(100), timeInForce: "gtc" },
            effects,
          );
        effects.length = 0;
        const changes = book
          .takeLevelChanges()
          .map(({ side: its, price: at, size, orderCount }): LevelChangeRow => [its, at, size, orderCount]);
        if (changes.length === 0) continue;
        sequence += 1;
        return { sequence, changes };
      }
    },
    levels: () => {
      const { bids, asks } = book.depth(1000);
      return [bids, asks].map((side) => side.map(({ price, size }) => shown(price, size)));
    },
  };
}
