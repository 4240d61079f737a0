/**
 * The lineage of a client: itself, the clients that created it, gave it a credential or changed its authority, and their lineages. Each of
 * them could act as the client. The operator is not part of any lineage.
 */
export type Lineage = ReadonlySet<string>;

/** Whether no client could act as both. */
export function areIndependent(one: Lineage, other: Lineage): boolean {
  const [small, large] = one.size <= other.size ? [one, other] : [other, one];
  for (const clientId of small) if (large.has(clientId)) return false;
  return true;
}

/** Those that are independent of everything kept before them, in the order given: clients of one lineage count once. */
export function keepIndependent<Item extends { lineage: Lineage }>(items: readonly Item[]): Item[] {
  const kept: Item[] = [];
  for (const item of items)
    if (kept.every(({ lineage }) => areIndependent(lineage, item.lineage))) kept.push(item);
  return kept;
}
