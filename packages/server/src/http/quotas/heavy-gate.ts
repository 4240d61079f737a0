import type { FastifyReply, FastifyRequest } from "fastify";
import type { ClientTraffic, Turns } from "../../app/quotas/traffic.js";
import { Refusal } from "../refusal.js";
import { type ConcurrencyLimits, disconnected, whenAnswered } from "./concurrency-gate.js";

/**
 * A request is heavy if its body is large, because its work grows with it: parsing, compiling, judging hundreds of items; or if it replaces
 * the policy, which is compared with earlier ones. A few at a time of
 * one tenant are served, so a tenant's heavy requests delay its own. A turn to be served begins when the body has arrived, so that one that
 * is never sent keeps nobody waiting. Bodies occupy memory until they are served, so a client has only a few that arrive, and its further
 * ones wait unread.
 */
const heavyBytes = 16_384;
const waitingMax = 50;
/** Bodies of one tenant in memory for each heavy request that is served. They can be those of so many clients that send none of theirs. */
const bodiesForEachInProgress = 8;
/** For a turn to arrive, and then for a turn to be served. Well below the time in which a request must have arrived. */
const waitMaxMs = 5000;

/**
 * Only on routes that take larger bodies than others. A body of undeclared length counts as large there. `always`: what the route does is
 * expensive for a small body, too.
 */
export function isHeavy({ headers }: FastifyRequest, takesLargeBodies: boolean | "always"): boolean {
  if (takesLargeBodies === "always") return true;
  if (!takesLargeBodies) return false;
  const length = headers["content-length"];
  return length === undefined ? headers["transfer-encoding"] !== undefined : Number(length) > heavyBytes;
}

/** Lets the body of a heavy request arrive, at once or when another one of its client is answered. */
export function enterHeavy(
  { heavy, tenant }: ClientTraffic,
  request: FastifyRequest,
  reply: FastifyReply,
  { heavyRequestsPerTenant }: ConcurrencyLimits,
  done: (refusal?: Refusal) => void,
): void {
  const untilMs = performance.now() + waitMaxMs;
  const ofClient = { turns: heavy, max: heavyRequestsPerTenant, untilMs, who: "client" } as const;
  const bodiesMax = bodiesForEachInProgress * heavyRequestsPerTenant;
  const ofTenant = { turns: tenant.heavyBodies, max: bodiesMax, untilMs, who: "tenant" } as const;
  enter(ofClient, request, reply, (refusal) => {
    if (refusal === undefined) enter(ofTenant, request, reply, done);
    else done(refusal);
  });
}

/** Lets a heavy request whose body has arrived be served, at once or when another one of its tenant is answered. */
export function beginHeavy(
  { tenant }: ClientTraffic,
  request: FastifyRequest,
  reply: FastifyReply,
  { heavyRequestsPerTenant }: ConcurrencyLimits,
  done: (refusal?: Refusal) => void,
): void {
  const untilMs = performance.now() + waitMaxMs;
  const turns = tenant.heavyWork;
  enter({ turns, max: heavyRequestsPerTenant, untilMs, who: "tenant" }, request, reply, done);
}

interface Entry {
  turns: Turns;
  max: number;
  untilMs: number;
  who: "client" | "tenant";
}

/** Takes a turn until the request is answered. */
function enter(
  { turns, max, untilMs, who }: Entry,
  request: FastifyRequest,
  reply: FastifyReply,
  done: (refusal?: Refusal) => void,
): void {
  const start = () => {
    turns.inProgress += 1;
    whenAnswered(request, reply, () => {
      turns.inProgress -= 1;
      startNext(turns);
    });
    done();
  };
  const refuse = (refusal: Refusal) => {
    clearTimeout(timer);
    turns.waiting.delete(begin);
    done(refusal);
  };
  const begin = () => {
    if (request.raw.socket.destroyed) {
      // Its client has disconnected while it waited, and its turn goes to the next one.
      refuse(disconnected());
      startNext(turns);
      return;
    }
    clearTimeout(timer);
    turns.waiting.delete(begin);
    start();
  };
  let timer: NodeJS.Timeout | undefined;
  if (request.raw.socket.destroyed) refuse(disconnected());
  else if (turns.inProgress < max) start();
  else if (turns.waiting.size >= waitingMax) refuse(tooManyHeavy(who));
  else {
    timer = setTimeout(() => refuse(tooManyHeavy(who)), untilMs - performance.now());
    turns.waiting.add(begin);
  }
}

function startNext({ waiting }: Turns): void {
  const [next] = waiting;
  next?.();
}

function tooManyHeavy(who: Entry["who"]): Refusal {
  return new Refusal("CONCURRENCY_LIMITED", {
    message: `This ${who} has too many large requests in progress.`,
    headers: { "retry-after": "1" },
  });
}
