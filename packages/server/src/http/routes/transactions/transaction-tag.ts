/** The ETag of a transaction: its id and version. Weak, because new fields may be added without a new version. */
export function transactionTag(id: string, version: number): string {
  return `W/"${id}-${version}"`;
}

/** The latest version that `If-None-Match` names; undefined if it names none of this transaction. */
export function knownVersion(ifNoneMatch: string | undefined, id: string): number | undefined {
  if (ifNoneMatch === undefined) return undefined;
  const versions = [...ifNoneMatch.matchAll(/"(tx_[0-9a-z]{26})-(\d{1,9})"/g)].flatMap(([, of, version]) =>
    of === id ? [Number(version)] : [],
  );
  return versions.length === 0 ? undefined : Math.max(...versions);
}
