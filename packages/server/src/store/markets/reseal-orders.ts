import { type Database, requireKeys } from "../core/database.js";
import { hasKey, joinByKey } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import { resealBands } from "./band-integrity.js";
import { isCommandAuthentic, resealCommand, type StoredCommand } from "./command-integrity.js";
import { type OrderKey, resealed, type StoredOrder, storedColumns } from "./order-integrity.js";

const batchMax = 200;
const leastId = "00000000-0000-0000-0000-000000000000";

/**
 * Writes the MACs of open orders, of commands that wait, and of price bands, with the current key, unless one is wrong; returns how many. Served by the primary
 * keys.
 */
export async function resealOrders(database: Database): Promise<number> {
  let written = (await database.transaction(resealBands)) + (await resealCommands(database));
  let after: OrderKey | undefined = { tenantId: leastId, id: leastId };
  while (after !== undefined) {
    const { tenantId, id }: OrderKey = after;
    const rows: StoredOrder[] = await database.transaction(async (tx) => {
      const keys = requireKeys(tx);
      const listed = await tx.query<StoredOrder>(sql`
        SELECT p.tenant_id AS "tenantId", p.id, ${storedColumns}
        FROM (
          SELECT * FROM open_orders WHERE (tenant_id, id) > (${tenantId}::uuid, ${id}::uuid)
          ORDER BY tenant_id, id LIMIT ${batchMax} FOR UPDATE) AS p
        LEFT ${joinByKey(sql`orders`, sql`o`, sql`p`)} ORDER BY p.tenant_id, p.id
      `);
      for (const row of listed) {
        const { accepted, progress } = resealed(keys, row);
        const isRow = sql`tenant_id = ${row.tenantId} AND id = ${row.id}`;
        if (accepted !== undefined)
          tx.send(sql`UPDATE orders SET key_id = ${accepted.keyId}, mac = ${accepted.mac} WHERE ${isRow}`);
        if (progress !== undefined)
          tx.send(
            sql`UPDATE open_orders SET key_id = ${progress.keyId}, mac = ${progress.mac} WHERE ${isRow}`,
          );
        written += Number(accepted !== undefined) + Number(progress !== undefined);
      }
      return listed;
    });
    after = rows.at(-1);
  }
  return written;
}

/** Those of a halted market: of any other they are executed within milliseconds. */
function resealCommands(database: Database): Promise<number> {
  return database.transaction(async (tx) => {
    const keys = requireKeys(tx);
    const rows = await tx.query<StoredCommand & { market: string }>(sql`
      SELECT c.market, c.sequence, c.tenant_id AS "tenantId", c.order_id AS "orderId", c.kind, c.size, c.price_limit AS "priceLimit",
        c.actor_id AS "actorId", c.key_id AS "keyId", c.mac, p.held
      FROM (SELECT * FROM markets ORDER BY market FOR NO KEY UPDATE) AS m
      JOIN LATERAL (
        SELECT *, order_id AS id FROM market_commands c
        WHERE c.market = m.market AND c.sequence > m.applied_sequence AND c.sequence <= m.admitted_sequence) AS c ON true
      LEFT JOIN LATERAL (SELECT p.held FROM open_orders p WHERE ${hasKey(sql`p`, sql`c`)} LIMIT 1) AS p ON true
    `);
    const old = rows.filter(
      (row) => row.keyId !== keys.currentId && isCommandAuthentic(keys, row.market, row),
    );
    for (const row of old) {
      const { keyId, mac } = resealCommand(keys, row.market, row);
      tx.send(
        sql`UPDATE market_commands SET key_id = ${keyId}, mac = ${mac} WHERE market = ${row.market} AND sequence = ${row.sequence}`,
      );
    }
    return old.length;
  });
}
