import { setImmediate as nextTurn } from "node:timers/promises";
import type { OpenOrder, Side } from "@bursar/domain";
import type { LoadedMarket, MarketStore } from "../../app/markets/market-store.js";
import { type Database, requireKeys, type Tx } from "../core/database.js";
import { expiry } from "../core/rows/leases.js";
import { joinByKey } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import { bandColumns, isBandAuthentic, type StoredBand } from "./band-integrity.js";
import { findStopped, type LoadedStops, loadedStops, type StoppableRow } from "./loaded-stops.js";
import { lockMarket } from "./market-leases.js";
import {
  type EvidencedOrder,
  hasMoved,
  isProgressAuthentic,
  isSetAside,
  lastVersion,
  setAside,
  storedColumns,
} from "./order-integrity.js";
import { readWaiting } from "./read-waiting.js";

/** Reads a market under its lease, so that no other process changes it meanwhile. */
export function createMarketLoader(database: Database): Pick<MarketStore, "load"> {
  return {
    load: (lease, durationMs, withStops) =>
      database.transaction(async (tx): Promise<LoadedMarket | undefined> => {
        const { market } = lease;
        const renew = (validMs: number) =>
          tx.send(sql`UPDATE markets SET expires_at = ${expiry(validMs)} WHERE market = ${market}`);
        const position = await lockMarket(tx, lease);
        if (position.isHalted) {
          renew(durationMs);
          return undefined;
        }
        const stops = loadedStops(withStops);
        const orders = await readResting(tx, market, stops);
        const { commands, acceptedMs, admittedSequence } = await readWaiting(
          tx,
          market,
          position,
          orders,
          stops,
        );
        const [row] = await tx.query<StoredBand & { changedAt: Date }>(
          sql`SELECT levels_changed_at AS "changedAt", ${bandColumns} FROM markets WHERE market = ${market}`,
        );
        if (row === undefined) throw new Error(`the market ${market} was not prepared`);
        const { changedAt, band } = row;
        if (!isBandAuthentic(requireKeys(tx), market, row))
          throw new Error(
            `The price band of ${market} was changed in the database by something other than Bursar. \`bursar market resume\` begins it again at the configured reference price.`,
          );
        // At the end, because reading a large book takes long: a process that waits for this row would find the lease expired.
        renew(durationMs + orders.length * restoringMs);
        const notBefore = new Date(Math.max(changedAt.getTime(), acceptedMs));
        const { appliedSequence } = position;
        return {
          orders,
          waiting: commands,
          stopped: stops.found,
          band,
          notBefore,
          position: { admittedSequence, appliedSequence },
        };
      }),
  };
}

/** An upper bound for putting one order into the book: 3 to 8 µs were measured on a busy machine. */
const restoringMs = 0.02;

interface RestingRow extends EvidencedOrder, StoppableRow {
  number: string;
  side: Side;
  price: string;
  size: string;
  filled: string;
  hasFailed: boolean;
  isSetAside: boolean;
}

/**
 * By priority, which is the sequence of the command that placed an order. One whose row was changed, or is older than its events, is left
 * out, and set aside until the operator retries it. Served by open_orders_resting, events_by_subject and the primary key.
 */
async function readResting(tx: Tx, market: string, stops: LoadedStops): Promise<OpenOrder[]> {
  const rows = await tx.query<RestingRow>(sql`
    SELECT p.sequence AS number, p.id, p.tenant_id AS "tenantId", p.side, p.price, p.size, p.filled,
      p.last_error IS NOT NULL AS "hasFailed", ${isSetAside} AS "isSetAside", ${storedColumns}, ${lastVersion(sql`p`)},
      ${stops.columns}
    FROM open_orders p LEFT ${joinByKey(sql`orders`, sql`o`, sql`p`)}
    WHERE p.market = ${market} AND p.state IN ('open', 'partially_filled') ORDER BY p.sequence
  `);
  const keys = requireKeys(tx);
  const sound: RestingRow[] = [];
  const tampered: RestingRow[] = [];
  for (const [index, row] of rows.entries()) {
    if (index % sliceSize === sliceSize - 1) await nextTurn();
    if (row.isSetAside) continue;
    (isProgressAuthentic(keys, row) && !hasMoved(row) ? sound : tampered).push(row);
  }
  setAside(tx, tampered);
  findStopped(keys, sound, stops);
  for (const { tenantId, id } of sound.filter(({ hasFailed }) => hasFailed))
    tx.send(sql`
      UPDATE open_orders SET attempts = 0, last_error = NULL, retry_at = NULL WHERE tenant_id = ${tenantId} AND id = ${id}
    `);
  return sound.map(({ id, tenantId: owner, side, ...row }) => {
    const [number, price, size] = [Number(row.number), Number(row.price), Number(row.size)];
    return { number, id, owner, side, price, size, remaining: size - Number(row.filled) };
  });
}

/** Verified in one turn of the event loop: some milliseconds. */
const sliceSize = 500;
