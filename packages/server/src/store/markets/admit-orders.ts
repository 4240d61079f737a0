import type { Balances } from "../../app/ledger/ledger-unit.js";
import type { Admission, ClaimedOrder, MarketCommand, NewCommand } from "../../app/markets/market-store.js";
import { writeDetails } from "../../app/markets/order.js";
import { requireKeys, type Tx } from "../core/database.js";
import { listKeys, locateRows } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { writeBalances } from "../ledger/ledger.js";
import { countUsage } from "../policy/usage.js";
import { macOfCommand } from "./command-integrity.js";

/** Writes the commands of admitted orders, the ends of rejected ones, and what both do to the ledger and to limits. */
export async function writeAdmission(
  tx: Tx,
  log: EventLog,
  { market, admittedSequence }: { market: string; admittedSequence: number },
  claimed: readonly ClaimedOrder[],
  admission: Admission,
  balances: Balances,
): Promise<MarketCommand[]> {
  const commands = numberCommands(admission.commands, claimed, admittedSequence);
  writeBalances(tx, balances);
  writeCommands(tx, market, commands);
  writeOrders(tx, claimed, admission, commands);
  writeJudgements(tx, admission);
  const { rejected, counted } = admission;
  if (counted.length > 0)
    log.lock(
      tx,
      [...counted, ...rejected.map(({ order }) => order)].map((one) => one.tenantId),
    );
  await rejectOrders(tx, log, admission);
  countUsage(tx, counted);
  return commands;
}

/** Commands get their sequence, and new orders with it their number. */
function numberCommands(
  commands: readonly NewCommand[],
  claimed: readonly ClaimedOrder[],
  admittedSequence: number,
): MarketCommand[] {
  const numbers = new Map(claimed.map(({ id, number }) => [id, number]));
  return commands.map((command, index) => {
    const sequence = admittedSequence + index + 1;
    if (command.kind === "place") numbers.set(command.orderId, sequence);
    const orderNumber = numbers.get(command.orderId) ?? null;
    if (orderNumber === null)
      throw new Error(`a command refers to an order that was never placed: ${command.orderId}`);
    return { ...command, sequence, orderNumber };
  });
}

function writeCommands(tx: Tx, market: string, commands: readonly MarketCommand[]): void {
  const last = commands.at(-1);
  if (last === undefined) return;
  const keys = requireKeys(tx);
  const column = <T>(pick: (command: MarketCommand) => T) => commands.map(pick);
  tx.send(sql`UPDATE markets SET admitted_sequence = ${last.sequence} WHERE market = ${market}`);
  tx.send(sql`
    INSERT INTO market_commands (market, key_id, sequence, tenant_id, order_id, kind, size, actor_id, price_limit, mac)
    SELECT ${market}, ${keys.currentId}, * FROM unnest(
      ${column((c) => c.sequence)}::bigint[], ${column((c) => c.tenantId)}::uuid[], ${column((c) => c.orderId)}::uuid[],
      ${column((c) => c.kind)}::text[], ${column((c) => (c.kind === "amend" ? c.size : null))}::bigint[],
      ${column((c) => c.actorId)}::uuid[], ${column((c) => (c.kind === "place" ? c.priceLimit : null))}::bigint[],
      ${column((c) => `\\x${macOfCommand(keys, market, c)}`)}::bytea[])
  `);
}

/** New orders get their place and their hold; what clients asked for has become a command. */
function writeOrders(
  tx: Tx,
  claimed: readonly ClaimedOrder[],
  { holds }: Admission,
  commands: readonly MarketCommand[],
): void {
  const numbers = new Map(commands.map(({ orderId, orderNumber }) => [orderId, orderNumber]));
  const admitted = claimed.filter(({ id }) => numbers.has(id));
  if (admitted.length === 0) return;
  tx.send(sql`
    UPDATE open_orders p SET sequence = a.sequence, held = p.held + a.held, cancel_requested = false,
      amend_size = NULL, change_requested_by = NULL, attempts = 0, last_error = NULL, retry_at = NULL
    FROM ${locateRows(
      sql`open_orders`,
      sql`unnest(
      ${admitted.map((o) => o.tenantId)}::uuid[], ${admitted.map((o) => o.id)}::uuid[],
      ${admitted.map((o) => numbers.get(o.id) ?? null)}::bigint[], ${admitted.map((o) => holds.get(o.id) ?? 0n)}::numeric[]
    ) AS given (tenant_id, id, sequence, held)`,
    )} AS a WHERE p.ctid = a.place
  `);
}

function writeJudgements(tx: Tx, { judged, occurredAt }: Admission): void {
  if (judged.length === 0) return;
  const column = <T>(pick: (one: Admission["judged"][number]) => T) => judged.map(pick);
  tx.send(sql`
    INSERT INTO order_judgements (tenant_id, order_id, policy_version, rule, reason, judged_at)
    SELECT tenant_id, order_id, policy_version, rule, reason, ${occurredAt} FROM unnest(
      ${column(({ order }) => order.tenantId)}::uuid[], ${column(({ order }) => order.id)}::uuid[],
      ${column(({ judgement }) => judgement.policyVersion)}::integer[], ${column(({ judgement }) => judgement.rule)}::text[],
      ${column(({ judgement }) => judgement.reason)}::text[]
    ) AS judged (tenant_id, order_id, policy_version, rule, reason)
  `);
}

/** What becomes of the orders that are rejected. */
export function changesOfRejected({ rejected }: Admission) {
  return rejected.map(({ order: { tenantId, id, size }, failure }) => ({
    ...{ tenantId, id, size, failure },
    version: 2,
    state: "rejected" as const,
    previousState: "pending" as const,
  }));
}

async function rejectOrders(tx: Tx, log: EventLog, admission: Admission): Promise<void> {
  const { rejected, occurredAt } = admission;
  if (rejected.length === 0) return;
  tx.send(sql`
    DELETE FROM open_orders WHERE ctid = ANY (ARRAY(
      SELECT place FROM ${locateRows(sql`open_orders`, listKeys(rejected.map(({ order }) => order)))} AS done))
  `);
  await log.append(
    tx,
    changesOfRejected(admission).map(({ tenantId, id, size, version, state, previousState, failure }) => ({
      tenantId,
      event: "order.updated" as const,
      subjectId: id,
      version,
      state,
      previousState,
      failureCode: failure,
      occurredAt,
      details: writeDetails({ size, filled: 0, quoteFilled: 0n, fee: 0n }),
    })),
  );
}
