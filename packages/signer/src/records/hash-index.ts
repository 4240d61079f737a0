/** Finds records by a key that is part of them. It holds their numbers only, in a table with open addressing. */
export interface HashIndex<K> {
  readonly find: (key: K) => number | undefined;
  /** Leads the key to this record from now on. */
  readonly set: (key: K, record: number) => void;
  readonly bytes: () => number;
}

interface KeyOfRecord<K> {
  readonly hash: (key: K) => number;
  readonly hashOf: (record: number) => number;
  readonly matches: (record: number, key: K) => boolean;
}

const firstCapacity = 1024;
/** A table that is three quarters full is doubled. */
const loadMax = 0.75;

export function createHashIndex<K>({ hash, hashOf, matches }: KeyOfRecord<K>): HashIndex<K> {
  // 0 is an empty place, so each number is stored plus one.
  let table = new Uint32Array(firstCapacity);
  let size = 0;
  const placeOf = (key: K) => {
    let place = hash(key) & (table.length - 1);
    for (;;) {
      const stored = table[place] as number;
      if (stored === 0 || matches(stored - 1, key)) return place;
      place = (place + 1) & (table.length - 1);
    }
  };
  const grow = () => {
    const old = table;
    table = new Uint32Array(old.length * 2);
    for (const stored of old) {
      if (stored === 0) continue;
      let place = hashOf(stored - 1) & (table.length - 1);
      while (table[place] !== 0) place = (place + 1) & (table.length - 1);
      table[place] = stored;
    }
  };
  return {
    find: (key) => {
      const stored = table[placeOf(key)] as number;
      return stored === 0 ? undefined : stored - 1;
    },
    set: (key, record) => {
      const place = placeOf(key);
      const isNew = table[place] === 0;
      table[place] = record + 1;
      if (!isNew) return;
      size += 1;
      if (size > table.length * loadMax) grow();
    },
    bytes: () => table.byteLength,
  };
}

/** Mixes four words so that every bit of the result depends on all of them (the finalizer of MurmurHash3). */
export function hashWords(a: number, b: number, c = 0, d = 0): number {
  let hash = mix(a ^ 0x9e3779b9);
  hash = mix(hash ^ b);
  hash = mix(hash ^ c);
  return mix(hash ^ d);
}

function mix(word: number): number {
  let value = word;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
