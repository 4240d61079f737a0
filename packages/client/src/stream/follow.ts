import { BursarError } from "../errors/bursar-error.js";
import { transientCodes } from "../generated/error-codes.js";
import type { CallOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";
import { keepConnected } from "./keep-connected.js";
import type { StreamMessage, StreamSocket } from "./socket.js";

/**
 * What is missing and cannot be had any more.
 * - `expired`: the log does not reach back that far; `from` to `to` are lost, and what comes after follows.
 * - `epoch_changed`: the database was replaced by a standby or a backup. What came after `from` may never have happened, and its sequences
 *   are used again. Read again what you hold; only new items follow.
 */
export interface Gap {
  type: "gap";
  reason: "expired" | "epoch_changed";
  from: number;
  to: number | undefined;
  epoch: string;
}

export interface Followed<Item> {
  channel: string;
  /** What else the subscription says. */
  filter: object;
  /** Whether every sequence must come. */
  isGapless: boolean;
  read: (message: StreamMessage) => { sequence: number; item: Item } | undefined;
}

export interface FollowOptions extends CallOptions {
  /** The last sequence that you have. Without it, only new items follow. */
  since?: number | undefined;
  /** The epoch that `since` belongs to. */
  epoch?: string | undefined;
  /** Called when items follow as they happen, and when the connection is lost: they follow later then. */
  onConnection?: ((isConnected: boolean) => void) | undefined;
}

interface Position {
  since: number | undefined;
  epoch: string | undefined;
  /** After which sequence something was missing, and was asked for again. */
  askedAgainAfter?: number;
}

/** The items of a channel in order, none missing and none twice, over as many connections as it takes. */
export async function* follow<Item>(
  transport: Transport,
  followed: Followed<Item>,
  { since, epoch, onConnection, ...options }: FollowOptions,
): AsyncGenerator<{ sequence: number; epoch: string; item: Item } | Gap, void, undefined> {
  const position: Position = { since, epoch };
  for await (const { socket, isAlive } of keepConnected(transport, options)) {
    const changed = epochGap(position, socket.epoch);
    if (changed !== undefined) yield changed;
    subscribe(socket, followed, position.since);
    for (let message = await socket.next(); message !== undefined; message = await socket.next()) {
      if (message.type === "error") {
        if (transientCodes.includes(errorOf(message).code)) break;
        yield gapOfError(message, position, socket);
        subscribe(socket, followed, position.since);
      } else if (message.type === "subscribed") {
        isAlive();
        onConnection?.(true);
        const gap = gapOfSubscription(message, position, socket);
        if (gap === undefined) continue;
        socket.send({ type: "unsubscribe", channel: followed.channel });
        subscribe(socket, followed, position.since);
        yield gap;
      } else {
        const found = followed.read(message);
        if (found === undefined || found.sequence <= (position.since ?? 0)) continue;
        const gap = followed.isGapless ? gapBefore(found.sequence, position, socket) : undefined;
        if (gap === "ask again") break;
        if (gap !== undefined) yield gap;
        position.since = found.sequence;
        yield { ...found, epoch: socket.epoch };
      }
    }
    onConnection?.(false);
  }
}

/** What the service has left out is asked for once more; if it is still missing, it is a gap. */
function gapBefore(
  sequence: number,
  position: Position,
  { epoch }: StreamSocket,
): Gap | "ask again" | undefined {
  const { since } = position;
  if (since === undefined || sequence === since + 1) return undefined;
  if (position.askedAgainAfter === since)
    return { type: "gap", reason: "expired", from: since + 1, to: sequence - 1, epoch };
  position.askedAgainAfter = since;
  return "ask again";
}

function subscribe(
  socket: StreamSocket,
  { channel, filter }: Followed<unknown>,
  since: number | undefined,
): void {
  socket.send({ type: "subscribe", channel, ...filter, ...(since === undefined ? {} : { since }) });
}

function epochGap(position: Position, epoch: string): Gap | undefined {
  const { since, epoch: known } = position;
  position.epoch = epoch;
  if (known === undefined || known === epoch) return undefined;
  position.since = undefined;
  return { type: "gap", reason: "epoch_changed", from: (since ?? 0) + 1, to: undefined, epoch };
}

function gapOfSubscription(
  message: StreamMessage,
  position: Position,
  { epoch }: StreamSocket,
): Gap | undefined {
  const sequence = Number(message["sequence"]);
  if (message["recovered"] !== false || position.since === undefined) {
    position.since ??= sequence;
    return undefined;
  }
  const from = position.since + 1;
  const to = Number(message["oldest_sequence"] ?? sequence + 1) - 1;
  // Otherwise the same subscription would be repeated without end.
  if (!Number.isSafeInteger(to))
    throw new BursarError({
      ...{ code: "STREAM_REFUSED", message: "The stream has a sequence that is no number." },
      ...{ outcome: "refused", attempts: 1 },
    });
  position.since = to;
  return { type: "gap", reason: "expired", from, to, epoch };
}

/** A sequence that the log does not have: it was lost with the end of the log. Any other refusal is final. */
function gapOfError(message: StreamMessage, position: Position, { epoch }: StreamSocket): Gap {
  const { code, message: text, request_id: requestId } = errorOf(message);
  if (code !== "SEQUENCE_AHEAD")
    throw new BursarError({ code, message: text, requestId, outcome: "refused", attempts: 1 });
  const from = (position.since ?? 0) + 1;
  delete position.askedAgainAfter;
  position.since = undefined;
  return { type: "gap", reason: "epoch_changed", from, to: undefined, epoch };
}

/** The error of a message that refuses another. */
export function errorOf(message: StreamMessage): { code: string; message: string; request_id?: string } {
  return message["error"] as { code: string; message: string; request_id?: string };
}
