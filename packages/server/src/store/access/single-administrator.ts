import { type KeyedQueryable, requireKeys, type Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import { isRowAuthentic, macOfRow, type RowMac } from "./row-integrity.js";

/** The columns of a tenant that say whether it has one administrator. */
export interface SingleAdministratorColumns extends RowMac {
  tenantId: string;
  isSingleAdministrator: boolean;
}

export const selectSingleAdministrator = sql`
  t.id AS "tenantId", t.single_administrator AS "isSingleAdministrator", t.settings_key_id AS "keyId", t.settings_mac AS mac
`;

/**
 * Whether the operator has opted the tenant out. A writer to the database could otherwise do so, and any client that manages clients
 * could then become an approver. To be opted in needs no proof, because that is the stricter side.
 */
export function readSingleAdministrator(source: KeyedQueryable, row: SingleAdministratorColumns): boolean {
  return (
    row.isSingleAdministrator &&
    isRowAuthentic(requireKeys(source), "tenant row", contentOf(row.tenantId), row)
  );
}

/** Served by the primary key. False if there is no such tenant. */
export async function writeSingleAdministrator(
  tx: KeyedQueryable,
  tenantId: string,
  isOn: boolean,
): Promise<boolean> {
  const { keyId, mac } = macOfRow(requireKeys(tx), "tenant row", contentOf(tenantId));
  const changed = await tx.query(sql`
    UPDATE tenants SET single_administrator = ${isOn}, settings_key_id = ${isOn ? keyId : null}, settings_mac = ${isOn ? mac : null}
    WHERE id = ${tenantId} RETURNING id
  `);
  return changed.length > 0;
}

/** Writes the MACs of opted-out tenants with the current key. They are few. */
export async function resealTenants(tx: Tx): Promise<void> {
  const rows = await tx.query<SingleAdministratorColumns>(sql`
    SELECT ${selectSingleAdministrator} FROM tenants t WHERE t.single_administrator ORDER BY t.id FOR NO KEY UPDATE
  `);
  for (const row of rows)
    if (readSingleAdministrator(tx, row)) await writeSingleAdministrator(tx, row.tenantId, true);
}

function contentOf(tenantId: string): object {
  return { tenantId, isSingleAdministrator: true };
}
