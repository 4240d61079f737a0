import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import { readStops, type StopColumns, stopColumns } from "../access/stops/stop-records.js";
import { type Statement, sql } from "../core/sql.js";

/** What a load finds about stops, if it asks. */
export interface LoadedStops {
  /** Of the row `o` of an order, which may be missing. */
  columns: Statement;
  /** The ids of orders whose client, tenant or wallet is stopped. */
  found: Set<string>;
}

export interface StoppableRow extends StopColumns {
  tenantId: string;
  id: string;
  clientId: string | null;
  walletId: string;
}

export function loadedStops(withStops: boolean): LoadedStops {
  const stops = withStops
    ? stopColumns(sql`o`, sql`o.wallet_id`)
    : sql`NULL AS "walletStop", NULL AS "clientStop", NULL AS "tenantStop"`;
  return { columns: sql`o.client_id AS "clientId", o.wallet_id AS "walletId", ${stops}`, found: new Set() };
}

export function findStopped(
  keys: IntegrityKeys,
  rows: readonly StoppableRow[],
  { found }: LoadedStops,
): void {
  for (const row of rows) {
    const { isFrozen, isHeld, isForged } = readStops(keys, row, row);
    if (isFrozen || isHeld || isForged) found.add(row.id);
  }
}
