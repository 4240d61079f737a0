import { crc32 } from "../../../src/checks/profiles/crc-32.js";
import { PlainRefusal } from "./plain-errors.js";
import type { Has, PlainAnswer, PlainRequest } from "./plain-server.js";

/** How often the book of a server was read. */
const reads = new WeakMap<Has, number>();

type Level = [price: string, size: string];

/** A small book with a checksum. */
export function showPlainBook({ path }: PlainRequest, has: Has): PlainAnswer {
  if (has("book-requires-parameter") && !path.includes("market="))
    throw new PlainRefusal(400, "INVALID_REQUEST", "The parameter market is required.");
  reads.set(has, (reads.get(has) ?? 0) + 1);
  if (has("book-fails-later") && reads.get(has) === 3)
    throw new PlainRefusal(500, "INTERNAL", "The book cannot be read.");
  if (has("book-fails-later-as-text") && reads.get(has) === 3)
    return { status: 500, headers: { "content-type": "text/plain" }, body: "Internal error" };
  if (has("book-not-utf8")) return { status: 200, body: { note: "é" }, encoding: "latin1" };
  if (has("book-error-200"))
    return {
      status: 200,
      body: { error: { code: "BOOK_DOWN", message: "No book.", retryable: false, request_id: "1" } },
    };
  if (has("book-null")) return { status: 200, body: null };
  if (has("book-cut")) return { status: 200, body: '{"bids":[[' };
  if (has("book-error-as-string")) return { status: 200, body: { error: "no book" } };
  if (has("book-empty")) return { status: 200, body: "" };
  if (has("book-without-sides")) return { status: 200, body: { orders: [] } };
  const bids: Level[] = [
    [has("book-crossed") ? "101.5" : "99.50", "1"],
    ["99", has("book-zero-size") ? "0" : "2.5"],
  ];
  const asks: Level[] = [
    ["101", "2"],
    ["102.5", "0.1"],
  ];
  if (has("bids-unsorted")) bids.reverse();
  if (has("asks-unsorted")) asks.reverse();
  const digits = [...asks, ...bids].flat().map((text) => text.replace(".", "").replace(/^0+/, ""));
  const checksum = crc32(Buffer.from(digits.join(""))) + (has("wrong-checksum") ? 1 : 0);
  const shown = (side: Level[]) => (has("book-with-numbers") ? side.map((level) => level.map(Number)) : side);
  return {
    status: 200,
    body: { market: has("book-off-schema") ? 7 : "ETH-USD", bids: shown(bids), asks: shown(asks), checksum },
  };
}
