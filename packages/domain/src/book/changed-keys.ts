/** The keys of levels that have changed since somebody last asked, each once. */
export interface ChangedKeys {
  keys: Float64Array;
  count: number;
  /** Those of levels that were dropped meanwhile: should one come back, it is among the keys already. */
  readonly gone: Set<number>;
}

const keysAtFirst = 256;

export function createChangedKeys(): ChangedKeys {
  return { keys: new Float64Array(keysAtFirst), count: 0, gone: new Set() };
}

/** The key must not be there yet. */
export function noteKey(changed: ChangedKeys, key: number): void {
  if (changed.count === changed.keys.length) grow(changed);
  changed.keys[changed.count] = key;
  changed.count += 1;
}

/** The keys in ascending order; after that there are none. */
export function takeKeys(changed: ChangedKeys): number[] {
  const keys = Array.from(changed.keys.subarray(0, changed.count).sort());
  changed.count = 0;
  changed.gone.clear();
  return keys;
}

function grow(changed: ChangedKeys): void {
  const larger = new Float64Array(changed.keys.length * 2);
  larger.set(changed.keys);
  changed.keys = larger;
}
