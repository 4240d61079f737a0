import type { PriceBand } from "@bursar/domain";
import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import { isRowAuthentic, macOfRow } from "../access/row-integrity.js";
import { requireKeys, type Tx } from "../core/database.js";
import { sql } from "../core/sql.js";

/*
 * A MAC covers the price band of a market. With another one, orders could trade far from the prices that others have traded at. A market without
 * a band begins at the configured reference price.
 */

export interface StoredBand {
  band: PriceBand | null;
  bandKeyId: string | null;
  bandMac: Buffer | null;
}

export const bandColumns = sql`band, band_key_id AS "bandKeyId", band_mac AS "bandMac"`;

export function isBandAuthentic(
  keys: IntegrityKeys,
  market: string,
  { band, bandKeyId: keyId, bandMac: mac }: StoredBand,
): boolean {
  return band === null || isRowAuthentic(keys, "order", contentOf(market, band), { keyId, mac });
}

/** An assignment of a statement that updates `markets`. */
export function setBand(keys: IntegrityKeys, market: string, band: PriceBand) {
  const { keyId, mac } = macOfRow(keys, "order", contentOf(market, band));
  return sql`band = ${JSON.stringify(band)}::jsonb, band_key_id = ${keyId}, band_mac = ${mac}`;
}

/** One that is not authentic is removed, and begins again at the configured reference price. Served by the primary key. */
export function removeForgedBand(tx: Tx, market: string, stored: StoredBand): void {
  if (isBandAuthentic(requireKeys(tx), market, stored)) return;
  tx.send(sql`UPDATE markets SET band = NULL, band_key_id = NULL, band_mac = NULL WHERE market = ${market}`);
}

/** Writes the MACs with the current key, unless one is wrong; returns how many. A service has a handful of markets. */
export async function resealBands(tx: Tx): Promise<number> {
  const keys = requireKeys(tx);
  const rows = await tx.query<StoredBand & { market: string }>(sql`
    SELECT market, ${bandColumns} FROM markets ORDER BY market FOR NO KEY UPDATE
  `);
  let written = 0;
  for (const { market, ...stored } of rows) {
    const { band, bandKeyId } = stored;
    if (band === null || bandKeyId === keys.currentId || !isBandAuthentic(keys, market, stored)) continue;
    tx.send(sql`UPDATE markets SET ${setBand(keys, market, band)} WHERE market = ${market}`);
    written += 1;
  }
  return written;
}

function contentOf(market: string, band: PriceBand): object {
  return { kind: "market band", market, band };
}
