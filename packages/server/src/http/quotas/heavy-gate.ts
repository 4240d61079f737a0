import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type BoundedGate, createBoundedGate, type GateKey } from "../../runtime/concurrency/bounded-gate.js";
import { Refusal } from "../refusal.js";
import type { Route } from "../route.js";
import { disconnected, whenAnswered } from "./concurrency-gate.js";
import type { Caller } from "./turns.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Ends with the work of a request that can be heavy; null before it has begun. */
    work: Promise<void> | null;
  }
}

/**
 * A request is heavy if its body is large, because its work grows with it: parsing, compiling, judging hundreds of items; or if it replaces
 * the policy, which is compared with earlier ones. A few at a time of
 * one tenant are served, so a tenant's heavy requests delay its own; its clients take turns. A turn to be served begins when the body has
 * arrived, so that one that is never sent keeps nobody waiting. Bodies occupy memory until they are served, so a client has only a few that
 * arrive, and its further ones wait unread.
 */
const heavyBytes = 16_384;
const waitingMax = 50;
/** Bodies of one tenant in memory for each heavy request that is served. They can be those of so many clients that send none of theirs. */
const bodiesForEachInProgress = 8;
/** For a turn to arrive, and then for a turn to be served. Well below the time in which a request must have arrived. */
const waitMaxMs = 5000;

/** The turns of heavy requests, each until its request is answered and its work has ended. */
export interface HeavyGates {
  /** Of one client, from their heads on. */
  ofClient: BoundedGate;
  /** Of a tenant's clients, whose bodies are arriving or in memory. */
  bodies: BoundedGate;
  /** Of a tenant's clients, whose bodies have arrived, and which are served. */
  served: BoundedGate;
}

export function installWork(app: FastifyInstance): void {
  app.decorateRequest("work", null);
}

export function createHeavyGates(heavyRequestsPerTenant: number): HeavyGates {
  const gateOf = (concurrentOfKeyMax: number) =>
    createBoundedGate({
      concurrentMax: Number.POSITIVE_INFINITY,
      concurrentOfKeyMax,
      waitingMax: Number.POSITIVE_INFINITY,
      waitingOfKeyMax: waitingMax,
    });
  return {
    ofClient: gateOf(heavyRequestsPerTenant),
    bodies: gateOf(bodiesForEachInProgress * heavyRequestsPerTenant),
    served: gateOf(heavyRequestsPerTenant),
  };
}

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
  { ofClient, bodies }: HeavyGates,
  { tenantId, clientId }: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
  done: (refusal?: Refusal) => void,
): void {
  const untilMs = performance.now() + waitMaxMs;
  enter({ gate: ofClient, key: clientId, untilMs, who: "client" }, request, reply, (refusal) => {
    const key = { key: tenantId, member: clientId };
    if (refusal === undefined) enter({ gate: bodies, key, untilMs, who: "tenant" }, request, reply, done);
    else done(refusal);
  });
}

/** Lets a heavy request whose body has arrived be served, at once or when another one of its tenant is answered. */
export function beginHeavy(
  { served }: HeavyGates,
  { tenantId, clientId }: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
  done: (refusal?: Refusal) => void,
): void {
  const untilMs = performance.now() + waitMaxMs;
  const key = { key: tenantId, member: clientId };
  enter({ gate: served, key, untilMs, who: "tenant" }, request, reply, done);
}

/**
 * The handler of a route whose requests can be heavy. Its work goes on if the client disconnects, and keeps its turn until it ends: a client
 * that hung up on each of its batches had twelve of them served at once. What has not begun by then is not begun.
 */
export function keepTurn(handle: Route["handle"]): Route["handle"] {
  return async (request, reply) => {
    if (request.raw.socket.destroyed) throw disconnected();
    let end: () => void = () => undefined;
    request.work = new Promise<void>((resolve) => {
      end = resolve;
    });
    try {
      return await handle(request, reply);
    } finally {
      end();
    }
  };
}

interface Entry {
  gate: BoundedGate;
  key: GateKey;
  untilMs: number;
  who: "client" | "tenant";
}

/** Takes a turn until the request is answered and its work has ended. */
function enter(
  { gate, key, untilMs, who }: Entry,
  request: FastifyRequest,
  reply: FastifyReply,
  done: (refusal?: Refusal) => void,
): void {
  const isGone = () => request.raw.socket.destroyed;
  let timer: NodeJS.Timeout | undefined;
  const untilAnswered = async () => {
    clearTimeout(timer);
    if (isGone()) return done(disconnected());
    const answered = new Promise<void>((resolve) => whenAnswered(request, reply, resolve));
    done();
    await answered;
    await request.work;
  };
  const onWait = (leave: () => void) => {
    timer = setTimeout(leave, untilMs - performance.now());
    whenAnswered(request, reply, leave);
  };
  gate
    .run(key, untilAnswered, onWait)
    .then((outcome) => {
      if (outcome !== "full") return;
      clearTimeout(timer);
      done(isGone() ? disconnected() : tooManyHeavy(who));
    })
    .catch((cause: unknown) => done(new Refusal("INTERNAL", { cause })));
}

function tooManyHeavy(who: Entry["who"]): Refusal {
  return new Refusal("CONCURRENCY_LIMITED", {
    message: `This ${who} has too many large requests in progress.`,
    headers: { "retry-after": "1" },
  });
}
