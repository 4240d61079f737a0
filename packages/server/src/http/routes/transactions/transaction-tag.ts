/** The ETag of a transaction: its id and version. Weak, because the bytes may grow new fields without a change of it. */
export function transactionTag(id: string, version: number): string {
  return `W/"${id}-${version}"`;
}

/** The version that a client says it has, the last where `If-None-Match` lists several; undefined where it names other things, or none. */
export function knownVersion(ifNoneMatch: string | undefined, id: string): number | undefined {
  if (ifNoneMatch === undefined) return undefined;
  const versions = [...ifNoneMatch.matchAll(/"(tx_[0-9a-z]{26})-(\d{1,9})"/g)].flatMap(([, of, version]) =>
    of === id ? [Number(version)] : [],
  );
  return versions.length === 0 ? undefined : Math.max(...versions);
}
