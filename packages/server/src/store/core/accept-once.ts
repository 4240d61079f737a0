interface Keyed {
  tenantId: string;
  id: string;
  idempotencyKey: string;
}

interface EarlierRow {
  tenantId: string;
  key: string;
}

/**
 * Writes what is new of a batch, and finds what has used the keys of the rest before; in the order given. A key that another batch is
 * inserting is waited for, so all batches insert in the order of their keys: two that share some never wait for each other.
 */
export async function acceptOnce<Asked extends Keyed, Row extends EarlierRow, Earlier>(
  batch: readonly Asked[],
  { insert, find, read }: AcceptOnceParts<Asked, Row, Earlier>,
): Promise<({ kind: "accepted" } | Earlier)[]> {
  const rows = await insert(batch.toSorted(byKey));
  if (rows.length === 0) return batch.map(() => isAccepted);
  const repeatedIds = new Set(rows.map(({ id }) => id));
  const earlier = new Map<string, Earlier>();
  for (const row of await find(batch.filter(({ id }) => repeatedIds.has(id))))
    earlier.set(`${row.tenantId} ${row.key}`, read(row));
  return batch.map(({ id, tenantId, idempotencyKey }) => {
    if (!repeatedIds.has(id)) return isAccepted;
    const found = earlier.get(`${tenantId} ${idempotencyKey}`);
    if (found === undefined) throw new Error("what was in the way is gone");
    return found;
  });
}

const isAccepted = { kind: "accepted" } as const;

interface AcceptOnceParts<Asked, Row, Earlier> {
  /** Gives those whose key was used before. */
  insert: (ordered: readonly Asked[]) => Promise<{ id: string }[]>;
  find: (repeated: readonly Asked[]) => Promise<Row[]>;
  read: (row: Row) => Earlier;
}

function byKey(one: Keyed, other: Keyed): number {
  if (one.idempotencyKey !== other.idempotencyKey) return one.idempotencyKey < other.idempotencyKey ? -1 : 1;
  if (one.tenantId !== other.tenantId) return one.tenantId < other.tenantId ? -1 : 1;
  return 0;
}
