import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type { MarketCommand } from "../../app/markets/market-store.js";
import { isRowAuthentic, macOfRow, type RowMac } from "../access/row-integrity.js";

/*
 * A MAC covers a command of a market's log, from its admission until the book has executed it: a writer to the database can neither invent a
 * command, nor change one, nor place an order that holds less than it can cost.
 */

/** A command as it is stored, with what its order holds. */
export interface StoredCommand extends RowMac {
  sequence: string;
  tenantId: string;
  orderId: string;
  kind: MarketCommand["kind"];
  size: string | null;
  priceLimit: string | null;
  actorId: string | null;
  held: string | null;
}

/** That of a command that is about to be stored, as hexadecimal digits. */
export function macOfCommand(keys: IntegrityKeys, market: string, command: MarketCommand): string {
  const isPlace = command.kind === "place";
  const fields = fieldsOf(market, {
    tenantId: command.tenantId,
    orderId: command.orderId,
    kind: command.kind,
    actorId: command.actorId,
    sequence: String(command.sequence),
    size: command.kind === "amend" ? String(command.size) : null,
    priceLimit: isPlace && command.priceLimit !== null ? String(command.priceLimit) : null,
    held: isPlace ? String(command.held) : null,
  });
  return macOfRow(keys, "order", fields).mac.toString("hex");
}

export function isCommandAuthentic(keys: IntegrityKeys, market: string, stored: StoredCommand): boolean {
  return isRowAuthentic(keys, "order", fieldsOf(market, stored), stored);
}

/** With the current key. */
export function resealCommand(keys: IntegrityKeys, market: string, stored: StoredCommand) {
  return macOfRow(keys, "order", fieldsOf(market, stored));
}

/** What an order holds counts only when it is placed: later it has changed. */
function fieldsOf(market: string, command: Omit<StoredCommand, keyof RowMac>): (string | null)[] {
  const { sequence, tenantId, orderId, kind, size, priceLimit, actorId, held } = command;
  const placed = kind === "place" ? held : null;
  return ["market command", market, sequence, tenantId, orderId, kind, size, priceLimit, actorId, placed];
}
