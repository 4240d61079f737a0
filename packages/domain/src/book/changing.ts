import { none } from "./book-rows.js";
import { reduceInSide, removeFromSide } from "./book-side.js";
import { assertWhole, type BookState, rowOf, sideOfRow } from "./book-state.js";
import type { AmendOrder, CancelOrder } from "./commands.js";
import type { CommandRefusal, Effect } from "./effects.js";

export function cancelOrder(state: BookState, command: CancelOrder): Effect {
  const row = rowOf(state, command.number);
  if (row === none) return refuse(command, "order_not_open");
  const remaining = state.rows.remaining[row >> 1] as number;
  removeFromSide(sideOfRow(state, row), row);
  return { kind: "cancelled", id: command.id, remaining, reason: "requested" };
}

/** Makes an order smaller. It keeps its place, because nobody behind it loses by that; whoever wants more places a new order. */
export function amendOrder(state: BookState, command: AmendOrder): Effect {
  assertWhole("size", command.size);
  const row = rowOf(state, command.number);
  if (row === none) return refuse(command, "order_not_open");
  const sizeBefore = state.rows.size[row >> 1] as number;
  const filled = sizeBefore - (state.rows.remaining[row >> 1] as number);
  if (command.size >= sizeBefore) return refuse(command, "size_not_smaller");
  if (command.size <= filled) return refuse(command, "size_not_above_filled");
  reduceInSide(sideOfRow(state, row), row, sizeBefore - command.size);
  state.rows.size[row >> 1] = command.size;
  return { kind: "amended", id: command.id, size: command.size, remaining: command.size - filled };
}

function refuse({ kind, id }: CancelOrder | AmendOrder, reason: CommandRefusal): Effect {
  return { kind: "command_refused", command: kind, id, reason };
}
