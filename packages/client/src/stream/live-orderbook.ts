import { BursarError } from "../errors/bursar-error.js";
import { transientCodes } from "../generated/error-codes.js";
import type { CallOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";
import { errorOf } from "./follow.js";
import { keepConnected } from "./keep-connected.js";
import { type BookMessage, createLocalBook, type Level, type LocalBook } from "./local-book.js";
import type { StreamMessage, StreamSocket } from "./socket.js";

/** The book right after a change. */
export interface LiveBook {
  market: string;
  sequence: number;
  /** Price and size, best first. */
  bids: Level[];
  asks: Level[];
}

/** The order book of a market after each change. A reader that is slower than the market sees fewer, newer states. */
export function liveOrderbook(transport: Transport) {
  return async function* books(
    market: string,
    options: CallOptions = {},
  ): AsyncGenerator<LiveBook, void, undefined> {
    const channel = `orderbook:${market}`;
    let book: LocalBook | undefined;
    let epoch: string | undefined;
    for await (const { socket, isAlive } of keepConnected(transport, options)) {
      // Sequences of another epoch are those of another book.
      if (epoch !== socket.epoch) book = undefined;
      epoch = socket.epoch;
      subscribe(socket, channel, book?.sequence());
      for (let message = await socket.next(); message !== undefined; message = await socket.next()) {
        if (message.type === "error" && transientCodes.includes(errorOf(message).code)) break;
        if (message.type === "error") throw refusal(message);
        if (message.channel !== channel || (message.type !== "snapshot" && message.type !== "delta"))
          continue;
        isAlive();
        book ??= createLocalBook();
        if (book.apply(message as unknown as BookMessage)) {
          yield { market, sequence: book.sequence() ?? 0, ...book.levels() };
        } else {
          // Only this market is read again, on the same connection.
          book = undefined;
          socket.send({ type: "unsubscribe", channel });
          subscribe(socket, channel, undefined);
        }
      }
    }
  };
}

function subscribe(socket: StreamSocket, channel: string, since: number | undefined): void {
  socket.send({ type: "subscribe", channel, ...(since === undefined ? {} : { since }) });
}

function refusal(message: StreamMessage): BursarError {
  const { code, message: text, request_id: requestId } = errorOf(message);
  return new BursarError({ code, message: text, requestId, outcome: "refused", attempts: 1 });
}
