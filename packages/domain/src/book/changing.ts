import { reduceInSide, removeFromSide } from "./book-side.js";
import { assertWhole, type BookState, sideOfRow } from "./book-state.js";
import type { AmendOrder, CancelOrder } from "./commands.js";
import type { CommandRefusal, Effect } from "./effects.js";
import { none, rowOf } from "./order-table.js";

export function cancelOrder(state: BookState, command: CancelOrder): Effect {
  const { orders } = state;
  const row = rowOf(orders, command.id);
  if (row === none) return refuse(command, "order_not_open");
  const remaining = orders.remaining[row] as number;
  removeFromSide(sideOfRow(state, row), row);
  return { kind: "cancelled", id: command.id, remaining, reason: "requested" };
}

/** Makes an order smaller. It keeps its place, because nobody behind it loses by that; whoever wants more places a new order. */
export function amendOrder(state: BookState, command: AmendOrder): Effect {
  assertWhole("size", command.size);
  const { orders } = state;
  const row = rowOf(orders, command.id);
  if (row === none) return refuse(command, "order_not_open");
  const sizeBefore = orders.size[row] as number;
  const filled = sizeBefore - (orders.remaining[row] as number);
  if (command.size >= sizeBefore) return refuse(command, "size_not_smaller");
  if (command.size <= filled) return refuse(command, "size_not_above_filled");
  reduceInSide(sideOfRow(state, row), row, sizeBefore - command.size);
  orders.size[row] = command.size;
  return { kind: "amended", id: command.id, size: command.size, remaining: command.size - filled };
}

function refuse({ kind, id }: CancelOrder | AmendOrder, reason: CommandRefusal): Effect {
  return { kind: "command_refused", command: kind, id, reason };
}
