/**
 * Generates version 7 UUIDs (RFC 9562) as strings with hyphens, strictly increasing within one source, unless the clock is set back by more
 * than `stepBackMs`: identifiers carry the time at which something was created, and would all carry a wrong one until then.
 */
export type UuidV7Source = () => string;

export interface UuidV7Inputs {
  now: () => number;
  /** Returns that many fresh random bytes. */
  randomBytes: (count: number) => Uint8Array;
}

/** Eight for the UUID's tail and two for the start of the counter. */
const randomBytesPerId = 10;
const tailLength = 8;
const idsPerRefill = 512;
const counterMax = 0xfff;
const stepBackMs = 30_000;

export function createUuidV7Source({ now, randomBytes }: UuidV7Inputs): UuidV7Source {
  let lastMs = -1;
  let counter = 0;
  // A call for random bytes takes a few microseconds, so one call serves 512 identifiers.
  let pool = new Uint8Array(0);
  let poolOffset = 0;
  // Formatting the time takes as long as all the rest, and many identifiers share one.
  let writtenMs = -1;
  let writtenTime = "";

  return () => {
    if (poolOffset === pool.length) {
      pool = Uint8Array.from(randomBytes(randomBytesPerId * idsPerRefill));
      poolOffset = 0;
    }
    const random = pool.subarray(poolOffset, poolOffset + randomBytesPerId);
    poolOffset += randomBytesPerId;

    // Within one millisecond, and while the clock is behind, the twelve bits of rand_a count up. When they overflow, the timestamp is
    // advanced by one, as RFC 9562, section 6.2, allows.
    const nowMs = now();
    if (nowMs > lastMs || nowMs < lastMs - stepBackMs) {
      lastMs = nowMs;
      // Starts in the lower half, so that a burst has room to count.
      counter = ((byteAt(random, tailLength) << 8) | byteAt(random, tailLength + 1)) & 0x7ff;
    } else if (counter === counterMax) {
      lastMs += 1;
      counter = 0;
    } else {
      counter += 1;
    }
    if (writtenMs !== lastMs) {
      writtenMs = lastMs;
      writtenTime = formatTime(lastMs);
    }
    return writtenTime + formatRest(counter, random);
  };
}

/** The time in a version 7 UUID. */
export function timeOfUuidV7(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

function formatTime(timestampMs: number): string {
  const time = timestampMs.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-`;
}

function formatRest(counter: number, random: Uint8Array): string {
  const version = 0x70 | (counter >> 8);
  const variant = 0x80 | (byteAt(random, 0) & 0x3f);
  let rest = `${hexByte(version)}${hexByte(counter & 0xff)}-${hexByte(variant)}${hexByte(byteAt(random, 1))}-`;
  for (let index = 2; index < tailLength; index++) rest += hexByte(byteAt(random, index));
  return rest;
}

const hexBytes = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, "0"));

function hexByte(value: number): string {
  return hexBytes[value] as string;
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] as number;
}
