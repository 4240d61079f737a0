import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { Connect, Exchange } from "../http/send.js";
import type { Target } from "../target/target.js";
import type { Receiver } from "../webhooks/receiver.js";
import { BoundReached, type CheckFailed } from "./check.js";
import { addDecimals, compareDecimals, type Decimal, parseDecimal, showDecimal } from "./decimal.js";
import type { Recorded } from "./exchange.js";
import type { Kit } from "./kit.js";

/** What one run may use. */
export interface Bounds {
  readonly requestsMax: number;
  readonly durationMs: number;
  /** The most that may be paid of an asset; an asset that is not listed has no bound. */
  readonly totals: ReadonlyMap<string, Decimal>;
}

export const defaultBounds: Bounds = { requestsMax: 600, durationMs: 180_000, totals: new Map() };

/** With `--slow`: the checks that wait have this time in addition. */
export const slowDurationMs = 420_000;

/** Something that the kit has created and removes at the end, also of a run that is interrupted. */
interface Leftover {
  readonly what: string;
  /** Returns why it could not be removed; undefined if it was. */
  readonly remove: (kit: Kit) => Promise<string | undefined>;
}

/** What all checks of a run share. */
export interface Session {
  readonly target: Target;
  readonly runId: string;
  readonly bounds: Bounds;
  readonly deadline: number;
  readonly token: string;
  readonly secondToken: string | undefined;
  readonly limitedToken: string | undefined;
  readonly exchanges: Exchange[];
  readonly secrets: Map<string, string>;
  readonly fixtures: Map<string, { recorded: Recorded; value: Promise<unknown> }>;
  /** By which check a failure was reported first. */
  readonly blamed: WeakMap<CheckFailed, string>;
  /** By which check a cause of closed connections was reported first. */
  readonly closedIn: Map<string, string>;
  /** Of what was sent before the first check: the check of the first request reports them. */
  readonly earlyWarnings: string[];
  readonly leftovers: Leftover[];
  readonly spent: Map<string, Decimal>;
  readonly receiver: Receiver | undefined;
  /** How the target is connected to, if it is in the same process. */
  readonly connect: Connect | undefined;
  /** Aborted by Ctrl-C and at the end: no further request is sent except those that remove something. */
  readonly signal: AbortSignal;
  /** Ends whatever still waits, so that the process can end. */
  readonly end: () => void;
  counter: number;
  /** How many checks pause between two questions. */
  pollers: number;
  /** Of all further keys, if they are shorter than a UUID: as the target file says, or as was found out. */
  keyLength: number | undefined;
  /** The form of all further references: as the target file says, or as was found out. */
  reference: Target["reference"];
  /** Why no further check runs: the target does not accept connections any more. */
  unreachable: string | undefined;
}

export interface SessionParts {
  readonly target: Target;
  readonly token: string;
  readonly secondToken?: string | undefined;
  readonly limitedToken?: string | undefined;
  readonly bounds?: Bounds;
  readonly receiver?: Receiver | undefined;
  readonly connect?: Connect | undefined;
  readonly signal?: AbortSignal;
  readonly runId?: string;
}

export function createSession(parts: SessionParts): Session {
  const { target, token, secondToken, limitedToken, receiver, bounds = defaultBounds } = parts;
  const secrets = new Map([[token, "$TOKEN"]]);
  const { credentials, revokedToken, webhooks } = target;
  const named = [
    [secondToken, "$SECOND_TOKEN"],
    [limitedToken, "$LIMITED_TOKEN"],
    [target.limited?.clientSecret, "$LIMITED_CLIENT_SECRET"],
    [revokedToken, "$REVOKED_TOKEN"],
    [credentials.clientSecret, "$CLIENT_SECRET"],
    [target.secondTenant?.clientSecret, "$SECOND_CLIENT_SECRET"],
    [webhooks?.secret, "$WEBHOOK_SECRET"],
  ] as const;
  for (const [secret, name] of named) if (secret !== undefined) secrets.set(secret, name);
  const ended = new AbortController();
  const signal = parts.signal === undefined ? ended.signal : AbortSignal.any([parts.signal, ended.signal]);
  // Everything that waits listens to it, and much waits together.
  setMaxListeners(0, signal);
  return {
    target,
    runId: parts.runId ?? randomBytes(5).toString("hex"),
    bounds,
    deadline: performance.now() + bounds.durationMs,
    token,
    secondToken,
    limitedToken,
    exchanges: [],
    secrets,
    fixtures: new Map(),
    blamed: new WeakMap(),
    closedIn: new Map(),
    earlyWarnings: [],
    leftovers: [],
    spent: new Map(),
    receiver,
    connect: parts.connect,
    signal,
    end: () => ended.abort(),
    counter: 0,
    pollers: 0,
    keyLength: target.keyLength,
    reference: target.reference,
    unreachable: undefined,
  };
}

const minutesOf = (durationMs: number) => `${Math.round(durationMs / 6000) / 10} minutes`;

/** Why nothing more is sent, and what lets a slow target finish. */
export function timePassed({ bounds: { durationMs } }: Session): string {
  const isSlow = durationMs >= defaultBounds.durationMs + slowDurationMs;
  const wayOut = isSlow
    ? "Run fewer checks at a time with --only"
    : `Pass --slow, which allows ${minutesOf(slowDurationMs)} more, or run fewer checks at a time with --only`;
  return `The ${minutesOf(durationMs)} of the run have passed. ${wayOut}.`;
}

/** Counts an amount before it is sent, as if it will be paid; a request above the bound is not sent. */
export function reserveAmount(session: Session, asset: string, amount: unknown): void {
  const value =
    typeof amount === "string" || typeof amount === "number" ? parseDecimal(String(amount)) : undefined;
  if (value === undefined) return;
  const total = addDecimals(session.spent.get(asset) ?? { units: 0n, decimals: 0 }, value);
  const bound = session.bounds.totals.get(asset);
  if (bound !== undefined && compareDecimals(total, bound) > 0)
    throw new BoundReached(
      `It would bring the total to ${showDecimal(total)} ${asset}, above --max-total ${asset}=${showDecimal(bound)}.`,
    );
  session.spent.set(asset, total);
}
