import { createBursar, type LiveBook } from "@bursar/client";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { checksumOf } from "./harness/checksum.js";
import { startStreamService } from "./harness/stream-service.js";

const events = Number(process.env["BURSAR_CLIENT_EVENTS"] ?? 2000);
const changes = Number(process.env["BURSAR_CLIENT_CHANGES"] ?? 10_000);
const cuts = Number(process.env["BURSAR_CLIENT_CUTS"] ?? 30);
/** An end for what hangs, which grows with the size. */
const timeoutMs = 240_000 + events * 20 + changes * 10 + cuts * 2000;

it(
  `${events} events and ${changes} changes of a book, over connections that are cut ${cuts} times: none missing, none twice, the book equal`,
  async () => {
    const service = await startStreamService(checksumOf);
    const controller = new AbortController();
    const { signal } = controller;
    const bursar = createBursar({
      baseUrl: service.url,
      credentials: () => "token",
      WebSocket: WebSocket as never,
      // Pauses between connections would only take time.
      runtime: { random: () => 0 },
    });
    const seen: number[] = [];
    const gaps: unknown[] = [];
    const books: number[] = [];
    let last: LiveBook | undefined;
    const following = (async () => {
      for await (const item of bursar.events.follow({ since: 0, signal })) {
        if (item.type === "event") seen.push(item.sequence);
        else gaps.push(item);
      }
    })();
    const living = (async () => {
      for await (const book of bursar.orderbook.live("ETH-USD", { signal })) {
        books.push(book.sequence);
        last = book;
      }
    })();
    const isThere = () => seen.length === events && last?.sequence === changes;
    const turn = () => new Promise((resolve) => setImmediate(resolve));

    try {
      const steps = 20 * cuts;
      for (let step = 1; step <= steps; step++) {
        while (service.book().sequence < (changes * step) / steps) {
          const at = service.book().sequence;
          const isBid = at % 2 === 0;
          const price = isBid ? 1900 + ((at * 37) % 90) : 2000 + ((at * 31) % 90);
          service.change(isBid ? "bids" : "asks", `${price}.5`, at % 5 === 0 ? "0" : `${1 + at}`);
        }
        const target = Math.floor((events * step) / steps);
        for (let made = Math.floor((events * (step - 1)) / steps); made < target; made++) service.append();
        for (let waited = 0; waited < 5; waited++) await turn();
        if (step % 20 === 0) service.cut();
        if (step % 33 === 0) service.loseNext("event");
        if (step % 47 === 0) service.loseNext("delta");
      }
      while (!isThere()) await turn();
    } finally {
      controller.abort();
      service.close();
      await Promise.all([following, living]);
    }
    expect(seen).toEqual(Array.from({ length: events }, (_, at) => at + 1));
    expect(gaps).toEqual([]);
    const { sequence, bids, asks } = service.book();
    expect(last).toEqual({ market: "ETH-USD", sequence, bids, asks });
    // A book never goes back.
    expect(books.every((book, at) => at === 0 || book >= (books[at - 1] ?? 0))).toBe(true);
  },
  timeoutMs,
);
