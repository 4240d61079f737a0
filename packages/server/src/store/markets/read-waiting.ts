import type { OpenOrder } from "@bursar/domain";
import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type { CommandPosition, MarketCommand, PlacedOrder } from "../../app/markets/market-store.js";
import { requireKeys, type Tx } from "../core/database.js";
import { hasKey, joinByKey } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import { isCommandAuthentic, type StoredCommand } from "./command-integrity.js";
import { findStopped, type LoadedStops, type StoppableRow } from "./loaded-stops.js";
import {
  type EvidencedOrder,
  hasMoved,
  isAccepted,
  isSetAside,
  lastVersion,
  setAside,
  storedColumns,
} from "./order-integrity.js";

interface CommandRow extends EvidencedOrder, StoppableRow, Omit<StoredCommand, "keyId" | "mac"> {
  commandKeyId: string | null;
  commandMac: Uint8Array | null;
  orderNumber: string | null;
  isSetAside: boolean | null;
  /** Null if there is no such order. */
  acceptedAt: Date | null;
  order: Omit<PlacedOrder, "quoteSize"> & { quoteSize: string | null };
}

/** More than one admission writes, and commands are admitted when no other waits. */
const commandsMax = 1000;
/** How far commands may be beyond the market's position. */
const aheadMax = 1_000_000;

interface Waiting {
  commands: MarketCommand[];
  acceptedMs: number;
  /** The last sequence that is used. */
  admittedSequence: number;
}

/**
 * Commands of the log that were not executed. One that places an order which is not as it was admitted does nothing, and the order is set
 * aside; one that was executed before, because the market's position was set back, does nothing either. Any other command that the service has
 * not written cancels its order: what its client wanted is not known. The position follows if commands are beyond it. Served by
 * events_by_subject and the primary keys.
 */
export async function readWaiting(
  tx: Tx,
  market: string,
  { admittedSequence, appliedSequence }: CommandPosition,
  resting: readonly OpenOrder[],
  stops: LoadedStops,
): Promise<Waiting> {
  const rows = await tx.query<CommandRow>(sql`
    SELECT c.sequence, c.tenant_id AS "tenantId", c.order_id AS "orderId", c.order_id AS id, ${storedColumns}, ${lastVersion(sql`c`)},
      p.sequence AS "orderNumber", p.held, ${isSetAside} AS "isSetAside", c.kind, c.command_size AS size, c.actor_id AS "actorId",
      c.price_limit AS "priceLimit", c.key_id AS "commandKeyId", c.mac AS "commandMac", o.created_at AS "acceptedAt",
      jsonb_build_object('side', o.side, 'type', o.type, 'timeInForce', o.time_in_force, 'selfTrade', o.self_trade,
        'price', o.price, 'size', o.size, 'quoteSize', o.quote_size::text) AS "order", ${stops.columns}
    FROM (
      SELECT *, order_id AS id, size AS command_size FROM market_commands
      WHERE market = ${market} AND sequence > ${appliedSequence} ORDER BY sequence LIMIT ${commandsMax}) AS c
    LEFT ${joinByKey(sql`orders`, sql`o`, sql`c`)}
    LEFT JOIN LATERAL (SELECT * FROM open_orders p WHERE ${hasKey(sql`p`, sql`c`)} LIMIT 1) AS p ON true
    ORDER BY c.sequence
  `);
  const last = Number(rows.at(-1)?.sequence ?? 0);
  if (rows.length === commandsMax || last > admittedSequence + aheadMax)
    throw new Error(
      `the position of the market ${market} is ${appliedSequence} of ${admittedSequence}, and its commands go on to ${last}: it was changed in the database by something other than Bursar`,
    );
  if (last > admittedSequence)
    tx.send(sql`UPDATE markets SET admitted_sequence = ${last}::bigint WHERE market = ${market}`);
  const { commands, tampered } = verify(requireKeys(tx), market, rows, resting);
  setAside(tx, tampered);
  findStopped(requireKeys(tx), rows, stops);
  const acceptedMs = Math.max(0, ...rows.map(({ acceptedAt }) => acceptedAt?.getTime() ?? 0));
  return { commands, acceptedMs, admittedSequence: Math.max(admittedSequence, last) };
}

function verify(
  keys: IntegrityKeys,
  market: string,
  rows: readonly CommandRow[],
  resting: readonly OpenOrder[],
): { commands: MarketCommand[]; tampered: CommandRow[] } {
  const wanted = new Set(rows.map(({ orderId }) => orderId));
  // Not the numbers of the rows, which a writer could exchange.
  const numbers = new Map<string, number>();
  for (const { id, number } of resting) if (wanted.has(id)) numbers.set(id, number);
  const tampered: CommandRow[] = [];
  const commands = rows.map((row): MarketCommand => {
    const { tenantId, orderId, actorId } = row;
    const common = { sequence: Number(row.sequence), tenantId, orderId, orderNumber: 0 };
    const isOwn = isCommandAuthentic(keys, market, { ...row, keyId: row.commandKeyId, mac: row.commandMac });
    if (row.kind !== "place") {
      const orderNumber = numbers.get(orderId) ?? 0;
      if (!isOwn) return { ...common, orderNumber, actorId: null, kind: "cancel" };
      return row.kind === "cancel"
        ? { ...common, orderNumber, actorId, kind: "cancel" }
        : { ...common, orderNumber, actorId, kind: "amend", size: Number(row.size) };
    }
    if (row.isSetAside === true) return { ...common, actorId: null, kind: "cancel" };
    const isAsAdmitted = isOwn && isAccepted(keys, row) && !hasMoved(row) && row.orderNumber === row.sequence;
    if (isAsAdmitted) {
      numbers.set(orderId, common.sequence);
      return toPlace(row);
    }
    // It rests, or has ended: the command was executed before.
    if (row.lastVersion === null || row.isUntouched === true) tampered.push(row);
    return { ...common, actorId: null, kind: "cancel" };
  });
  return { commands, tampered };
}

function toPlace({ tenantId, orderId, actorId, content, order, ...row }: CommandRow): MarketCommand {
  const sequence = Number(row.sequence);
  return {
    ...{ kind: "place", sequence, tenantId, orderId, orderNumber: sequence, actorId, content },
    held: BigInt(row.held ?? 0),
    order: { ...order, quoteSize: order.quoteSize === null ? null : BigInt(order.quoteSize) },
    // A command from before there were limits has none.
    priceLimit: row.priceLimit === null ? null : Number(row.priceLimit),
  };
}
