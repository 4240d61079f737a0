import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type { AcceptedOrder } from "../../app/markets/order.js";
import { isRowAuthentic, macOfRow, type RowMac } from "../access/row-integrity.js";
import { type Database, requireKeys, type Tx } from "../core/database.js";
import { joinByKey, listKeys, locateRows } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";

/*
 * A MAC covers what an order may buy or sell, from its acceptance on: a writer to the database can change the row, but what was changed is
 * neither put into a book nor traded. How much of it is filled, and that its client wants less of it, is not covered; the size that was
 * accepted bounds both.
 */

interface OrderKey {
  tenantId: string;
  id: string;
}

/** An order as it is stored. */
export interface StoredOrder extends OrderKey, RowMac {
  /** What was accepted, in one string. */
  content: string;
  needsJudgement: boolean;
  /** Whether the row of the open order says the same, or less. */
  isSame: boolean;
}

/** Of the row `o` of an order. No field of one that the service has accepted has a space in it, so no other fields make the same string. */
const content = sql`concat_ws(' ', coalesce(o.client_id::text, '-'), o.market, o.wallet_id, o.side, o.type, coalesce(o.time_in_force, '-'),
  o.self_trade, coalesce(o.price::text, '-'), coalesce(o.size::text, '-'), coalesce(o.quote_size::text, '-'))`;

function contentOf(order: AcceptedOrder): string {
  const { clientId, market, walletId, side, type, timeInForce, selfTrade, price, size, quoteSize } = order;
  return `${clientId} ${market} ${walletId} ${side} ${type} ${timeInForce ?? "-"} ${selfTrade} ${price ?? "-"} ${size ?? "-"} ${quoteSize ?? "-"}`;
}

/** Of the row `o` of an order and the row `p` of the same order while it is open. */
export const storedColumns: Statement = sql`
  ${content} AS content, o.key_id AS "keyId", o.mac, p.needs_judgement AS "needsJudgement",
  p.market = o.market AND p.wallet_id = o.wallet_id AND p.side = o.side AND p.price IS NOT DISTINCT FROM o.price
    AND (p.size IS NOT DISTINCT FROM o.size OR p.size < o.size) AND p.filled >= 0 AS "isSame"`;

/** That of an order that is about to be stored, as hexadecimal digits. */
export function macOfOrder(keys: IntegrityKeys, order: AcceptedOrder): string {
  const fields = fieldsOf(order, contentOf(order), order.needsJudgement);
  return macOfRow(keys, "order", fields).mac.toString("hex");
}

/** One that was allowed when it was accepted can be judged later; never the other way round. */
export function isOrderAuthentic(keys: IntegrityKeys, row: StoredOrder): boolean {
  const isAuthentic = (needsJudgement: boolean) =>
    isRowAuthentic(keys, "order", fieldsOf(row, row.content, needsJudgement), row);
  return row.isSame && (isAuthentic(row.needsJudgement) || (row.needsJudgement && isAuthentic(false)));
}

function fieldsOf({ tenantId, id }: OrderKey, text: string, needsJudgement: boolean): string[] {
  return ["order", tenantId, id, text, needsJudgement ? "judge" : "allowed"];
}

/** For the operator. */
const tamperedFault =
  "The row of the order was changed in the database by something other than Bursar, so it is not in the book. Restore the row from a backup, retry it, and restart the process that runs the market.";

/** Sets orders aside whose rows were changed. No claim finds them before the operator retries them. Served by the primary key. */
export function setAsideTampered(tx: Tx, orders: readonly OrderKey[]): void {
  if (orders.length === 0) return;
  tx.send(sql`
    UPDATE open_orders p SET attempts = least(p.attempts + 1, 32767), last_error = ${tamperedFault}, retry_at = 'infinity'
    FROM ${locateRows(sql`open_orders`, listKeys(orders))} AS given WHERE p.ctid = given.place
  `);
}

const batchMax = 200;
const leastId = "00000000-0000-0000-0000-000000000000";

/** Writes the MACs of open orders with the current key, unless one is wrong; returns how many. Served by the primary keys. */
export async function resealOrders(database: Database): Promise<number> {
  let written = 0;
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
        ${joinByKey(sql`orders`, sql`o`, sql`p`)} ORDER BY p.tenant_id, p.id
      `);
      for (const row of listed) {
        if (row.keyId === keys.currentId || !isOrderAuthentic(keys, row)) continue;
        // With the judgement that the MAC says.
        const judged = isRowAuthentic(keys, "order", fieldsOf(row, row.content, row.needsJudgement), row);
        const fields = fieldsOf(row, row.content, judged && row.needsJudgement);
        const { keyId, mac } = macOfRow(keys, "order", fields);
        tx.send(
          sql`UPDATE orders SET key_id = ${keyId}, mac = ${mac} WHERE tenant_id = ${row.tenantId} AND id = ${row.id}`,
        );
        written += 1;
      }
      return listed;
    });
    after = rows.at(-1);
  }
  return written;
}
