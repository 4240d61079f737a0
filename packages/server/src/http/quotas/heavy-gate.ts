import type { FastifyReply, FastifyRequest } from "fastify";
import type { TenantTraffic } from "../../app/quotas/traffic.js";
import { Refusal } from "../refusal.js";
import { type ConcurrencyLimits, disconnected, whenAnswered } from "./concurrency-gate.js";

/**
 * A request is heavy if its body is large, because its work grows with it: parsing, compiling, judging hundreds of items. A few at a time of
 * one tenant are in progress, and further ones wait with their bodies unread, so a tenant's heavy requests delay its own.
 */
const heavyBytes = 16_384;
const waitingMax = 50;
/** Well below the time in which a request must have arrived. */
const waitMaxMs = 5000;

/** Only on routes that take larger bodies than others. A body of undeclared length counts as large there. */
export function isHeavy({ headers }: FastifyRequest, takesLargeBodies: boolean): boolean {
  if (!takesLargeBodies) return false;
  const length = headers["content-length"];
  return length === undefined ? headers["transfer-encoding"] !== undefined : Number(length) > heavyBytes;
}

/** Admits a heavy request, at once or when another one of its tenant is answered. */
export function enterHeavy(
  { heavy }: TenantTraffic,
  request: FastifyRequest,
  reply: FastifyReply,
  { heavyRequestsPerTenant }: ConcurrencyLimits,
  done: (refusal?: Refusal) => void,
): void {
  const start = () => {
    heavy.inProgress += 1;
    whenAnswered(request, reply, () => {
      heavy.inProgress -= 1;
      startNext(heavy);
    });
    done();
  };
  const refuse = (refusal: Refusal) => {
    clearTimeout(timer);
    heavy.waiting.delete(begin);
    done(refusal);
  };
  const begin = () => {
    if (request.raw.socket.destroyed) {
      // Its client has disconnected while it waited, and its turn goes to the next one.
      refuse(disconnected());
      startNext(heavy);
      return;
    }
    clearTimeout(timer);
    heavy.waiting.delete(begin);
    start();
  };
  let timer: NodeJS.Timeout | undefined;
  if (request.raw.socket.destroyed) refuse(disconnected());
  else if (heavy.inProgress < heavyRequestsPerTenant) start();
  else if (heavy.waiting.size >= waitingMax) refuse(tooManyHeavy());
  else {
    timer = setTimeout(() => refuse(tooManyHeavy()), waitMaxMs);
    heavy.waiting.add(begin);
  }
}

function startNext({ waiting }: TenantTraffic["heavy"]): void {
  const [next] = waiting;
  next?.();
}

function tooManyHeavy(): Refusal {
  return new Refusal("CONCURRENCY_LIMITED", {
    message: "This tenant has too many large requests in progress.",
    headers: { "retry-after": "1" },
  });
}
