/** Everything that a run leaves to chance comes from here, so that its seed is all of it. */
export interface Random {
  /** At least zero, less than one. */
  next: () => number;
  /** A whole number from `min` to `max`, both included. */
  between: (min: number, max: number) => number;
  chance: (probability: number) => boolean;
  pick: <T>(list: readonly T[]) => T;
  bytes: (count: number) => Uint8Array;
}

/** The generator sfc32, from the public domain: small, fast and even enough to choose between possibilities. */
export function createRandom(seed: number): Random {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed | 0;
  let counter = 1;
  function next32(): number {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
  // The first numbers of neighbouring seeds resemble each other.
  for (let round = 0; round < 15; round++) next32();

  const next = () => next32() / 2 ** 32;
  const between = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (list) => {
      if (list.length === 0) throw new Error("there is nothing to pick from");
      return list[between(0, list.length - 1)] as (typeof list)[number];
    },
    bytes: (count) => {
      const bytes = new Uint8Array(count);
      for (let index = 0; index < count; index++) bytes[index] = next32() & 0xff;
      return bytes;
    },
  };
}
