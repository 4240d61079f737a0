import { setImmediate as nextTurn } from "node:timers/promises";
import { type CloseCode, type ErrorCode, errorBody, errorCatalog } from "@bursar/protocol";
import { isRefused, type Refused } from "../app/requests/refused.js";
import { messageOverhead } from "./message-room.js";
import type { ClientMessage } from "./read-message.js";
import type { Session } from "./session.js";
import type { StreamDeps } from "./stream-deps.js";
import type { Subscriptions } from "./subscriptions.js";

/** Handles the messages of one client, in order and within bounds. */
export interface MessageHandler {
  receive: (data: Buffer, isBinary: boolean) => void;
  /** Each ping is answered, so that a flood of them would fill the buffer of a client that does not read; they count as messages. */
  receivePing: () => void;
  /** Drops what has not been handled yet. */
  clear: () => void;
}

export interface MessageHandlerOptions {
  requestId: string;
  session: Session;
  subscriptions: Subscriptions;
  send: (message: object) => void;
  /** How many bytes were sent to the client so far. */
  bytesSent: () => number;
  close: (code: CloseCode, reason: string) => void;
}

/** How many messages may be refused before the stream ends with 1008. */
const refusalsAllowed = { burst: 10, perSecond: 0.1 };

/** These say nothing about the message: it can be sent again later. */
const isPassing: ReadonlySet<ErrorCode> = new Set(["RATE_LIMITED", "UNAVAILABLE", "OVERLOADED"]);

export function createMessageHandler(options: MessageHandlerOptions, deps: StreamDeps): MessageHandler {
  const { requestId, session, subscriptions, send, bytesSent, close } = options;
  const { limits, log, monotonicMs } = deps;
  // Enough for every subscription at once. As many may wait.
  const burst = limits.subscriptions + limits.messagesPerSecond;
  const messages = createAllowance({ burst, perSecond: limits.messagesPerSecond }, monotonicMs);
  const refusals = createAllowance(refusalsAllowed, monotonicMs);
  const owner = session.principal();
  /** They are read when it is their turn: a string takes less memory than what is in it. */
  const waiting: string[] = [];
  let isWorking = false;

  /** A client that sends faster than it is answered would otherwise fill the memory of the process, which serves all tenants. */
  function add(data: Buffer): void {
    const text = data.toString();
    if (waiting.length >= burst || !deps.room.take(owner, sizeOf(text)))
      close(4429, "too many messages wait");
    else if (waiting.push(text) && !isWorking) void work();
  }

  function next(): string | undefined {
    const text = waiting.shift();
    if (text !== undefined) deps.room.giveBack(owner, sizeOf(text));
    return text;
  }

  function count(): boolean {
    const isAllowed = messages.take();
    if (!isAllowed) close(4429, "too many messages");
    return isAllowed;
  }

  function refuse({ refused, message, details }: Refused, id: string | undefined): void {
    const error = errorBody({
      code: refused,
      message: message ?? errorCatalog[refused].message,
      requestId,
      publicUrl: deps.publicUrl,
      details,
    });
    send({ type: "error", ...(id === undefined ? {} : { id }), ...error });
    if (!isPassing.has(refused) && !refusals.take()) close(1008, "too many messages were refused");
  }

  /**
   * One message after the other, so that the answers are in the order of the messages. After each, all that waits in the event loop has its
   * turn: what needs no I/O would otherwise be handled in one go, and 30 streams that subscribe to books kept everybody else waiting.
   */
  async function work(): Promise<void> {
    isWorking = true;
    for (let text = next(); text !== undefined; text = next()) {
      const message = deps.readMessage(text);
      const refused = isRefused(message) ? message : await admit(message, text.length);
      if (refused !== undefined) refuse(refused, message.id);
      await nextTurn();
    }
    isWorking = false;
  }

  /** A message costs what a request that reads costs, so that many streams do not give a client more than its quota. */
  async function admit(message: ClientMessage, length: number): Promise<Refused | undefined> {
    try {
      const waitSeconds = await deps.takeQuota(session.client(), length);
      return waitSeconds === 0 ? await handle(message) : { refused: "RATE_LIMITED" };
    } catch (error) {
      const isUnavailable = deps.isUnavailable(error);
      if (!isUnavailable) log.error({ err: error, request_id: requestId }, "A message on a stream failed.");
      return { refused: isUnavailable ? "UNAVAILABLE" : "INTERNAL" };
    }
  }

  async function handle(message: ClientMessage): Promise<Refused | undefined> {
    const echo = message.id === undefined ? {} : { id: message.id };
    switch (message.type) {
      case "subscribe": {
        const result = await subscriptions.subscribe(message, session.principal());
        if (isRefused(result)) {
          // Other refusals, such as a second subscription to a channel, are mistakes of a program and no attempts.
          if (result.refused === "INSUFFICIENT_SCOPE")
            session.recordRefusal("subscribe", message.channel, result.refused);
          return result;
        }
        const before = bytesSent();
        send(result.answer);
        result.start();
        // The whole book, or what was missed.
        deps.chargeQuota(session.client(), bytesSent() - before);
        return undefined;
      }
      case "unsubscribe": {
        const refused = subscriptions.unsubscribe(message.channel);
        if (refused === undefined) send({ type: "unsubscribed", ...echo, channel: message.channel });
        return refused;
      }
      case "authenticate": {
        const refused = await session.authenticate(message.token);
        if (refused === undefined) send({ type: "authenticated", ...echo, expires_at: session.expiresAt() });
        return refused;
      }
    }
  }

  return {
    receive: (data, isBinary) => {
      if (isBinary) close(1003, "messages are text");
      else if (count()) add(data);
    },
    receivePing: () => void count(),
    clear: () => {
      while (next() !== undefined);
    },
  };
}

function sizeOf(text: string): number {
  return text.length + messageOverhead;
}

/** How often something may happen: a burst at once, and then so many times a second. */
interface Allowance {
  /** Returns false if it happens too often. */
  take: () => boolean;
}

export function createAllowance(
  { burst, perSecond }: { burst: number; perSecond: number },
  monotonicMs: () => number,
): Allowance {
  let left = burst;
  let countedAtMs = monotonicMs();
  return {
    take: () => {
      const nowMs = monotonicMs();
      left = Math.min(burst, left + ((nowMs - countedAtMs) / 1000) * perSecond);
      countedAtMs = nowMs;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
