/** The ETag of a transaction: its id and version. Weak, because the bytes may grow new fields without a change of it. */
export function transactionTag(id: string, version: number): string {
  return `W/"${id}-${version}"`;
}

/** The version that a client says it has, from `If-None-Match`; undefined where it names another thing, or none. */
export function knownVersion(ifNoneMatch: string | undefined, id: string): number | undefined {
  const match = /^(?:W\/)?"(tx_[0-9a-z]{26})-(\d{1,9})"$/.exec(ifNoneMatch ?? "");
  return match !== null && match[1] === id ? Number(match[2]) : undefined;
}
