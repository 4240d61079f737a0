import { compare } from "../amounts/amounts.js";

export type Level = readonly [price: string, size: string];

/** A copy of an order book that is kept by snapshots and deltas. */
export interface LocalBook {
  sequence: () => number | undefined;
  /** False if the copy is not the service's book any more: a delta was missed, or the checksum differs. */
  apply: (message: BookMessage) => boolean;
  levels: () => { bids: Level[]; asks: Level[] };
}

export interface BookMessage {
  type: string;
  sequence: number;
  previous_sequence?: number;
  bids: Level[];
  asks: Level[];
  checksum: number;
}

const levelsCounted = 10;

export function createLocalBook(): LocalBook {
  let sequence: number | undefined;
  /** Best first. */
  const sides: { bids: Level[]; asks: Level[] } = { bids: [], asks: [] };

  function set(side: "bids" | "asks", [price, size]: Level): void {
    const levels = sides[side];
    let low = 0;
    let high = levels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = compare((levels[middle] as Level)[0], price);
      if (side === "bids" ? order > 0 : order < 0) low = middle + 1;
      else high = middle;
    }
    const isKnown = levels[low]?.[0] === price;
    if (size !== "0") levels.splice(low, isKnown ? 1 : 0, [price, size]);
    else if (isKnown) levels.splice(low, 1);
  }

  return {
    sequence: () => sequence,
    apply: (message) => {
      if (message.type === "snapshot") {
        sides.bids = [...message.bids];
        sides.asks = [...message.asks];
      } else {
        if (message.previous_sequence !== sequence) return false;
        for (const level of message.bids) set("bids", level);
        for (const level of message.asks) set("asks", level);
      }
      sequence = message.sequence;
      return checksumOf(sides) === message.checksum;
    },
    levels: () => ({ bids: [...sides.bids], asks: [...sides.asks] }),
  };
}

/** CRC-32 over the ten best asks and then the ten best bids: price and size of each, without decimal points and leading zeros. */
function checksumOf({ bids, asks }: { bids: readonly Level[]; asks: readonly Level[] }): number {
  const digits = [...asks.slice(0, levelsCounted), ...bids.slice(0, levelsCounted)]
    .flat()
    .map((amount) => amount.replace(".", "").replace(/^0+/, ""))
    .join("");
  let crc = 0xffffffff;
  for (let at = 0; at < digits.length; at++) {
    crc ^= digits.charCodeAt(at);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
