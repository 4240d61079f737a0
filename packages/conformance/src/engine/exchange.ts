import { type Reply, replyOf } from "../http/reply.js";
import { type Exchange, type RequestToSend, type SendOutcome, send } from "../http/send.js";
import type { Delivery } from "../webhooks/receiver.js";
import { BoundReached, NoResponse } from "./check.js";
import { type Session, timePassed } from "./session.js";

/** What a check or a fixture has done and received, for the report. */
export interface Recorded {
  readonly exchanges: Exchange[];
  readonly notifications: Delivery[];
  readonly warnings: string[];
  /** How long was waited since the last request. */
  pausedMs: number;
}

export const emptyRecord = (): Recorded => ({ exchanges: [], notifications: [], warnings: [], pausedMs: 0 });

/** An exchange that has begun: it counts as a request, and has its place in the list. */
export interface BegunExchange {
  readonly timeoutMs: number;
  readonly finish: (outcome: SendOutcome) => Exchange;
}

const headerBytesMax = 64 << 10;

/** Sends a request, and a second time if the server closed the idle connection meanwhile. */
export async function sendOnce(
  session: Session,
  recorded: Recorded,
  request: RequestToSend,
  { bytesMax, keptMax }: { bytesMax: number; keptMax: number },
): Promise<Reply> {
  const exchangeOnce = async () => {
    const { timeoutMs, finish } = beginExchange(session, recorded, request);
    const bounds = { timeoutMs, bodyBytesMax: bytesMax, headerBytesMax };
    const outcome = await send(request, bounds, session.connect);
    const exchange = finish(cutBody(outcome, keptMax));
    // The target had less time than it may take, so it is not to blame.
    if (exchange.isOverdue === true && timeoutMs < session.target.timing.requestMs)
      throw new BoundReached(timePassed(session));
    return exchange;
  };
  const first = await exchangeOnce();
  // A server may close an idle connection at any time: RFC 9110, section 9.2.2, lets a client send such a request once more.
  const exchange = first.isStale === true && isRepeatable(request) ? await exchangeOnce() : first;
  const reply = replyOf(exchange);
  if (reply === undefined) {
    const { failure = "none", isCutOff = false } = exchange;
    const what = `${isCutOff ? "a complete response" : "a response"} to ${request.method} ${request.url.pathname}`;
    throw new NoResponse(what, failure, causeOf(exchange));
  }
  return reply;
}

function cutBody(outcome: SendOutcome, bytesMax: number): SendOutcome {
  const { response } = outcome;
  if (response === undefined || response.body.length <= bytesMax) return outcome;
  // A copy, because a part of a buffer keeps all of it.
  return { ...outcome, response: { ...response, body: Buffer.from(response.body.subarray(0, bytesMax)) } };
}

/** Whether a request has no further effect if it is sent twice. */
const isRepeatable = ({ method, headers }: RequestToSend) =>
  method === "GET" || headers.some(([name]) => name.toLowerCase() === "idempotency-key");

/** Responses that are cut off have one cause, and so have connections that are closed, or left without a response, at one operation. */
function causeOf({ request, isCutOff, isClosed, isOverdue }: Exchange): string | undefined {
  if (isCutOff === true) return "cut off";
  const operation = request.url.pathname.replace(/(\/v1\/transactions\/).*/, "$1");
  if (isOverdue === true) return `overdue ${request.method} ${operation}`;
  return isClosed === true ? `${request.method} ${operation}` : undefined;
}

export function beginExchange(session: Session, recorded: Recorded, request: RequestToSend): BegunExchange {
  refuseIfStopped(session);
  if (session.exchanges.length >= session.bounds.requestsMax)
    throw new BoundReached(`The ${session.bounds.requestsMax} requests of the run are used up.`);
  const remainingMs = session.deadline - performance.now();
  if (remainingMs <= 0) throw new BoundReached(timePassed(session));
  const startedAt = new Date();
  const started = performance.now();
  const { pausedMs } = recorded;
  recorded.pausedMs = 0;
  const index = session.exchanges.length;
  // Reserves the place, so that concurrent requests are listed in the order in which they were sent.
  session.exchanges.push({
    index,
    startedAt,
    durationMs: 0,
    pausedMs,
    request,
    failure: "it was not finished",
    isPending: true,
  });
  return {
    timeoutMs: Math.ceil(Math.min(session.target.timing.requestMs, remainingMs)),
    finish: (outcome) => {
      const durationMs = performance.now() - started;
      const exchange: Exchange = { index, startedAt, durationMs, pausedMs, request, ...outcome };
      session.exchanges[index] = exchange;
      recorded.exchanges.push(exchange);
      return exchange;
    },
  };
}

export function refuseIfStopped(session: Session): void {
  if (session.signal.aborted) throw new BoundReached("The run was interrupted.");
}
