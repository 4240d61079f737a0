import { expect, fail, NotOffered, profileCheck } from "../../engine/check.js";
import { compareDecimals, type Decimal, parseDecimal } from "../../engine/decimal.js";
import type { Kit } from "../../engine/kit.js";
import { describeValue, showValue } from "../../engine/name-value.js";
import { isObject } from "../../http/reply.js";
import { book } from "../endpoint-checks.js";
import { crc32 } from "./crc-32.js";

const source = "Levels as [price, size], best first, as exchanges publish them.";
const levels = "orderbook.levels";
const strings = "orderbook.strings";
const checkedLevels = 10;

type Level = readonly [price: unknown, size: unknown];
interface Book {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly json: Record<string, unknown>;
}

async function readBook(kit: Kit): Promise<Book> {
  const { json } = await book(kit);
  if (!isObject(json) || !isSide(json["bids"]) || !isSide(json["asks"]))
    fail("bids and asks as lists of [price, size]", json === undefined ? "no JSON" : showValue(json));
  return { bids: json["bids"], asks: json["asks"], json };
}

const isSide = (value: unknown): value is Level[] =>
  Array.isArray(value) && value.every((level) => Array.isArray(level) && level.length >= 2);

const priceOf = ([price]: Level): Decimal => parseDecimal(String(price)) ?? { units: 0n, decimals: 0 };

function expectSorted(side: readonly Level[], name: string, direction: 1 | -1): void {
  side.forEach((level, index) => {
    const before = side[index - 1];
    if (before === undefined) return;
    const isInOrder = compareDecimals(priceOf(level), priceOf(before)) * direction > 0;
    expect(
      isInOrder,
      `${name} sorted from the best price, each price once`,
      `${showValue(before[0])} before ${showValue(level[0])}`,
    );
  });
}

/** What a client that keeps a local book relies on. */
export const orderbookChecks = [
  profileCheck(
    levels,
    "orderbook",
    source,
    "The snapshot has bids and asks.",
    { needs: ["book.snapshot"] },
    async (kit) => {
      await readBook(kit);
    },
  ),
  profileCheck(
    strings,
    "orderbook",
    source,
    "Prices and sizes are decimal numbers as strings.",
    { needs: [levels] },
    async (kit) => {
      const { bids, asks } = await readBook(kit);
      for (const value of [...bids, ...asks].flat())
        expect(
          typeof value === "string" && parseDecimal(value) !== undefined,
          "decimal numbers as strings",
          describeValue(value),
        );
    },
  ),
  profileCheck(
    "orderbook.sorted.bids",
    "orderbook",
    source,
    "Bids are sorted from the highest price.",
    { needs: [strings] },
    async (kit) => {
      expectSorted((await readBook(kit)).bids, "bids", -1);
    },
  ),
  profileCheck(
    "orderbook.sorted.asks",
    "orderbook",
    source,
    "Asks are sorted from the lowest price.",
    { needs: [strings] },
    async (kit) => {
      expectSorted((await readBook(kit)).asks, "asks", 1);
    },
  ),
  profileCheck(
    "orderbook.sizes",
    "orderbook",
    source,
    "No level has a size of zero or less.",
    { needs: [strings] },
    async (kit) => {
      const { bids, asks } = await readBook(kit);
      for (const [price, size] of [...bids, ...asks])
        expect(
          (parseDecimal(String(size))?.units ?? 0n) > 0n,
          "a size above zero at every level",
          `${showValue(size)} at ${showValue(price)}`,
        );
    },
  ),
  profileCheck(
    "orderbook.not-crossed",
    "orderbook",
    source,
    "The best bid is below the best ask.",
    { needs: ["orderbook.sorted.bids", "orderbook.sorted.asks"] },
    async (kit) => {
      const { bids, asks } = await readBook(kit);
      const [bid, ask] = [bids[0], asks[0]];
      if (bid === undefined || ask === undefined) throw new NotOffered("A side of the book is empty.");
      expect(
        compareDecimals(priceOf(bid), priceOf(ask)) < 0,
        "a best bid below the best ask",
        `the bid ${showValue(bid[0])} and the ask ${showValue(ask[0])}`,
      );
    },
  ),
  profileCheck(
    "orderbook.checksum",
    "orderbook",
    "CRC-32 over the ten best asks and then the ten best bids, without decimal points and leading zeros, as documented by Kraken.",
    "The checksum is that of the levels.",
    { needs: ["orderbook.not-crossed"] },
    async (kit) => {
      const { bids, asks, json } = await readBook(kit);
      if (json["checksum"] === undefined) throw new NotOffered("The snapshot has no checksum.");
      const digits = (value: unknown) => String(value).replace(".", "").replace(/^0+/, "");
      const text = [...asks.slice(0, checkedLevels), ...bids.slice(0, checkedLevels)]
        .map(([price, size]) => digits(price) + digits(size))
        .join("");
      const wanted = crc32(Buffer.from(text));
      expect(
        json["checksum"] === wanted,
        `the checksum ${wanted}`,
        `the checksum ${showValue(json["checksum"])}`,
      );
    },
  ),
];
