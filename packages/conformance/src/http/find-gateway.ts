import { setTimeout as delay } from "node:timers/promises";
import { errorIn, parseJson } from "./reply.js";
import { type Exchange, type RequestToSend, send } from "./send.js";

const bounds = { timeoutMs: 5000, bodyBytesMax: 1 << 20, headerBytesMax: 64 << 10 };
/** So long a service that restarts may be gone. */
const pauseMs = 1000;
/** Bad gateway, service unavailable, gateway timeout. */
const statuses = [502, 503, 504];

/** Whether a gateway answered instead of the service, whose own refusals have an error object. */
export function isOfGateway({ response }: Pick<Exchange, "response">): boolean {
  if (response === undefined || !statuses.includes(response.status)) return false;
  return errorIn(parseJson(response.body.toString("utf8"))) === undefined;
}

/** Whether the service itself has failed. With 503 it can also say that it does not want to. */
export const isServerFailure = (exchange: Pick<Exchange, "response">) =>
  (exchange.response?.status ?? 0) >= 500 && exchange.response?.status !== 503 && !isOfGateway(exchange);

/** A sentence if a gateway answers this request, now and a second later, instead of the service; undefined if it does not. */
export async function findGateway(request: RequestToSend, signal: AbortSignal): Promise<string | undefined> {
  if (!isOfGateway(await send(request, bounds))) return undefined;
  await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  const again = await send(request, bounds);
  if (!isOfGateway(again)) return undefined;
  const { method, url } = request;
  return `${method} ${url.pathname} is answered with ${again.response?.status} by a gateway in front of it`;
}

/** A sentence if this request is not answered either, so that all of the service is silent; undefined if it is. */
export async function findSilence(request: RequestToSend, timeoutMs: number): Promise<string | undefined> {
  const { isOverdue } = await send(request, { ...bounds, timeoutMs });
  return isOverdue === true
    ? `${request.method} ${request.url.pathname} has no response within ${timeoutMs} ms either`
    : undefined;
}
