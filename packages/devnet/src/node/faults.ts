import { type Static, Type } from "typebox";

/** Faults of single answers, so that a test can see what a client makes of them. */

const Effect = Type.Union([
  /** The request is carried out at once, and answered later. */
  Type.Object({ kind: Type.Literal("late"), delayMs: Type.Integer({ minimum: 1, maximum: 600_000 }) }),
  /** The request is carried out, and the connection is cut instead of an answer. */
  Type.Object({ kind: Type.Literal("lost") }),
  /** The connection is cut, and nothing is carried out. */
  Type.Object({ kind: Type.Literal("cut") }),
  /** The request is carried out and answered with this result instead. */
  Type.Object({ kind: Type.Literal("wrong"), result: Type.Unknown() }),
  /** `[]` instead of a list, `null` instead of anything else. */
  Type.Object({ kind: Type.Literal("empty") }),
  /** This error is answered; what was asked for happens or not. */
  Type.Object({
    kind: Type.Literal("error"),
    code: Type.Integer(),
    message: Type.String({ maxLength: 2000 }),
    carriedOut: Type.Boolean(),
  }),
  /** A proxy's answer, such as 502 with a page of HTML; nothing is carried out. */
  Type.Object({
    kind: Type.Literal("status"),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    body: Type.String({ maxLength: 10_000 }),
  }),
]);
export type Effect = Static<typeof Effect>;

export const Fault = Type.Object(
  {
    /** Exact names; without them every method that is not a control. */
    methods: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 50 })),
    effect: Effect,
    /** One matching request in so many is hit, the first of them first. */
    every: Type.Optional(Type.Integer({ minimum: 1 })),
    /** The fault ends after so many hits. */
    times: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
);
export type Fault = Static<typeof Fault>;

const faultsMax = 100;

export interface Faults {
  /** Returns the number of the fault, or undefined if there are too many. */
  readonly add: (fault: Fault) => number | undefined;
  readonly clear: () => void;
  /** How many requests each fault has hit, by its number. */
  readonly hits: () => Record<number, number>;
  /** The effect on a request. If several faults match, the one that was added last decides. */
  readonly next: (method: string) => Effect | undefined;
}

export function createFaults(): Faults {
  const active = new Map<number, { fault: Fault; seen: number; hits: number }>();
  let added = 0;
  return {
    add: (fault) => {
      if (active.size >= faultsMax) return undefined;
      added += 1;
      active.set(added, { fault, seen: 0, hits: 0 });
      return added;
    },
    clear: () => active.clear(),
    hits: () => Object.fromEntries([...active].map(([number, { hits }]) => [number, hits])),
    next: (method) => {
      let effect: Effect | undefined;
      for (const entry of active.values()) if (isHit(entry, method)) effect = entry.fault.effect;
      return effect;
    },
  };
}

function isHit(entry: { fault: Fault; seen: number; hits: number }, method: string): boolean {
  const { methods, every = 1, times = Number.POSITIVE_INFINITY } = entry.fault;
  if (entry.hits >= times || (methods !== undefined && !methods.includes(method))) return false;
  entry.seen += 1;
  if ((entry.seen - 1) % every !== 0) return false;
  entry.hits += 1;
  return true;
}

export function emptied(result: unknown): unknown {
  return Array.isArray(result) ? [] : null;
}
