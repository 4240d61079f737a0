import { findGateway, findSilence, isOfGateway } from "../http/find-gateway.js";
import { findUnreachable } from "../http/find-unreachable.js";
import { describeReply, replyOf } from "../http/reply.js";
import type { Exchange } from "../http/send.js";
import type { Delivery } from "../webhooks/receiver.js";
import {
  BoundReached,
  type Check,
  CheckFailed,
  NoResponse,
  NotOffered,
  Undecided,
  WaitsFor,
} from "./check.js";
import { emptyRecord } from "./exchange.js";
import { createKit, urlOf } from "./kit.js";
import { namedExchanges } from "./named-exchanges.js";
import type { Session } from "./session.js";

/** How a check ended. `broken` is a fault of the kit, never of the target. */
type Outcome =
  | { readonly result: "passed" }
  | { readonly result: "failed"; readonly expected: string; readonly seen: string }
  | { readonly result: "warned"; readonly reason: string }
  | { readonly result: "not offered"; readonly reason: string }
  | {
      readonly result: "not run";
      readonly reason: string;
      readonly waitsFor?: string;
      /** Left out only because it waits long, which says nothing about the target. */
      readonly isSlow?: true;
      /** It ran, and could not be sure in the time that it had. */
      readonly isUndecided?: true;
    }
  | { readonly result: "broken"; readonly reason: string };

export interface CheckResult {
  readonly check: Check;
  readonly outcome: Outcome;
  readonly exchanges: readonly Exchange[];
  /** The index of the exchange that the outcome is about, if it is about one. */
  readonly judged?: number | undefined;
  /** Those that show the failure, or else all that arrived meanwhile. */
  readonly notifications: readonly Delivery[];
  /** How many others arrived meanwhile, if those above are only some. */
  readonly otherNotifications: number;
}

export interface RunOptions {
  readonly checks: readonly Check[];
  readonly isSlow: boolean;
  /** Changes the order of checks that do not depend on each other. */
  readonly seed?: number | undefined;
  readonly onResult?: (result: CheckResult) => void;
  /** Runs before the first check. What it finds wrong is kept for the checks that use the same. */
  readonly prepare?: (session: Session, checks: readonly Check[]) => Promise<void>;
}

/**
 * Runs the checks one after the other, then those that wait long together, because they do little but wait, and then those that look at
 * what all others have seen. The results are in the order of the table, whatever the order of the run.
 */
export async function runChecks(session: Session, options: RunOptions): Promise<CheckResult[]> {
  const results = new Map<string, CheckResult>();
  const run = async (check: Check) => {
    // Another check has already shown its failure.
    if (results.has(check.id)) return;
    const { own, other } = await runCheck(session, check, results, options);
    for (const result of [own, other])
      if (result !== undefined) {
        results.set(result.check.id, result);
        options.onResult?.(result);
      }
  };
  await options.prepare?.(session, options.checks);
  const order = orderOf(options.checks, options.seed);
  for (const check of order.filter(({ slow, atEnd }) => slow !== true && atEnd !== true)) await run(check);
  await Promise.all(order.filter(({ slow }) => slow === true).map(run));
  for (const check of order.filter(({ atEnd }) => atEnd === true)) await run(check);
  return options.checks.flatMap(({ id }) => results.get(id) ?? []);
}

interface CheckedResults {
  readonly own: CheckResult;
  /** A check that had passed or is yet to run, and has failed by what this one has seen. */
  readonly other?: CheckResult;
}

async function runCheck(
  session: Session,
  check: Check,
  results: ReadonlyMap<string, CheckResult>,
  { isSlow, checks }: RunOptions,
): Promise<CheckedResults> {
  const held = reasonNotToRun(check, results, isSlow, session);
  if (held !== undefined) return { own: withoutEvidence(check, held) };
  const recorded = emptyRecord();
  const { exchanges, warnings } = recorded;
  let belongsTo: string | undefined;
  let about: CheckFailed["about"];
  const seen = await check.run(createKit(session, recorded)).then(
    (): Outcome =>
      warnings.length === 0 ? { result: "passed" } : { result: "warned", reason: warnings.join(" ") },
    (error: unknown) => {
      if (error instanceof CheckFailed || error instanceof Undecided) belongsTo = error.belongsTo;
      if (error instanceof CheckFailed) about = error.about;
      const first = blame(session, error, check.id);
      return first === check.id ? outcomeOfError(error) : waitFor(first);
    },
  );
  const outcome = (await outcomeIfGone(session, check, seen, exchanges)) ?? seen;
  const byIndex = (one: { index: number }, other: { index: number }) => one.index - other.index;
  const deliveries = Array.isArray(about) ? (about as readonly Delivery[]) : undefined;
  const notifications = [...(deliveries ?? recorded.notifications)].sort(byIndex);
  const judged = judgedIn(outcome, exchanges, about);
  const result = {
    check,
    outcome,
    exchanges: withNamed(session, outcome, exchanges, about).sort(byIndex),
    judged,
    notifications,
    otherNotifications: recorded.notifications.filter((one) => !notifications.includes(one)).length,
  };
  const other = belongsTo === check.id ? undefined : checks.find(({ id }) => id === belongsTo);
  if (other === undefined || outcome !== seen || "waitsFor" in outcome) return { own: result };
  return { own: withoutEvidence(check, waitFor(other.id)), other: { ...result, check: other } };
}

/** A check that looks at the whole run judges what others have sent, and others compare with what was sent before. */
function withNamed(
  { exchanges: all }: Session,
  outcome: Outcome,
  own: readonly Exchange[],
  about: CheckFailed["about"],
): Exchange[] {
  const shown = about !== undefined && "exchange" in about ? [about.exchange] : [];
  const named = outcome.result === "failed" ? namedExchanges(all, `${outcome.expected} ${outcome.seen}`) : [];
  // By their places in the run: one that was begun and finished is two objects.
  return [...new Map([...named, ...shown, ...own].map((one) => [one.index, one])).values()];
}

/** The exchange that shows a failure: the one that the check has named, or the last that is quoted, or the only one. */
function judgedIn(
  outcome: Outcome,
  exchanges: readonly Exchange[],
  about: CheckFailed["about"],
): number | undefined {
  if (about !== undefined && "exchange" in about) return about.exchange.index;
  const said = outcome.result === "failed" ? outcome.seen : "reason" in outcome ? outcome.reason : "";
  const isQuoted = (exchange: Exchange) => {
    const reply = replyOf(exchange);
    return reply === undefined ? exchange.failure === said : said.includes(describeReply(reply));
  };
  const quoted = exchanges.filter(isQuoted).at(-1) ?? (exchanges.length === 1 ? exchanges[0] : undefined);
  return quoted?.index;
}

/** The check that a failure is reported by: the first, because a fixture that fails would fail every check that uses it. */
function blame(session: Session, error: unknown, id: string): string {
  if (!(error instanceof CheckFailed)) return id;
  const { blamed, closedIn } = session;
  if (error instanceof NoResponse && error.closedBy !== undefined) {
    const first = closedIn.get(error.closedBy);
    if (first === undefined) closedIn.set(error.closedBy, error.belongsTo ?? id);
    return first ?? id;
  }
  const first = blamed.get(error);
  if (first === undefined) blamed.set(error, error.belongsTo ?? id);
  return first ?? id;
}

const withoutEvidence = (check: Check, outcome: Outcome): CheckResult => ({
  check,
  outcome,
  exchanges: [],
  notifications: [],
  otherNotifications: 0,
});

const waitFor = (id: string): Outcome => ({
  result: "not run",
  reason: `It waits for ${id} to pass.`,
  waitsFor: id,
});

/**
 * A target that has ended breaks every sentence of the contract at once, which says nothing about any of them. One reason is given, with
 * the last request, because that may have ended it, and nothing more is run.
 */
async function outcomeIfGone(
  session: Session,
  { id }: Check,
  outcome: Outcome,
  exchanges: readonly Exchange[],
): Promise<Outcome | undefined> {
  const isFailed = outcome.result === "failed" || (outcome.result === "not run" && outcome.isUndecided);
  // A gateway answers for a service that has ended, and a check that expects a refusal takes that for one.
  const hasGateway = exchanges.some(isOfGateway);
  if (!(isFailed || hasGateway) || session.signal.aborted) return undefined;
  const { baseUrl, timing } = session.target;
  const isOverdue = exchanges.some((one) => one.isOverdue === true);
  const why =
    (await findUnreachable(baseUrl, session.signal)) ??
    (hasGateway ? await findGateway(bookRequest(session), session.signal) : undefined) ??
    (isOverdue ? await findSilence(bookRequest(session), timing.requestMs) : undefined);
  if (why === undefined) return undefined;
  const ended = exchanges.find((one) => one.response === undefined || isOfGateway(one))?.request;
  const where = ended === undefined ? "" : `, at ${ended.method} ${ended.url.pathname}`;
  session.unreachable ??= `${baseUrl.href} could not be reached any more during ${id}${where}: ${why}.`;
  return { result: "not run", reason: session.unreachable };
}

/** What every implementation has, and what changes nothing. */
const bookRequest = ({ target, token }: Session) => ({
  method: "GET",
  url: urlOf(target.baseUrl, "/v1/orderbook"),
  headers: [["Authorization", `Bearer ${token}`]] as const,
});

function outcomeOfError(error: unknown): Outcome {
  if (error instanceof CheckFailed) return { result: "failed", expected: error.expected, seen: error.seen };
  if (error instanceof NotOffered) return { result: "not offered", reason: error.message };
  if (error instanceof WaitsFor) return waitFor(error.id);
  if (error instanceof BoundReached) return { result: "not run", reason: error.message };
  if (error instanceof Undecided) return { result: "not run", reason: error.message, isUndecided: true };
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { result: "broken", reason };
}

/** Says nothing about the target, which may offer it. */
export const profileNotNamed = (profile: string) =>
  `Neither the target file nor --profile names the profile ${profile}.`;

function reasonNotToRun(
  check: Check,
  results: ReadonlyMap<string, CheckResult>,
  isSlow: boolean,
  session: Session,
): Outcome | undefined {
  if (check.level === "profile" && !session.target.profiles.includes(check.profile))
    return { result: "not offered", reason: profileNotNamed(check.profile) };
  if (check.slow === true && !isSlow)
    return { result: "not run", reason: "It waits long, and runs only with --slow.", isSlow: true };
  if (session.unreachable !== undefined) return { result: "not run", reason: session.unreachable };
  for (const id of prerequisites(check)) {
    const outcome = results.get(id)?.outcome;
    if (outcome === undefined || outcome.result === "passed" || outcome.result === "warned") continue;
    if (outcome.result === "not offered") {
      if (check.needs.includes(id)) return outcome;
      continue;
    }
    if (outcome.result === "not run" && outcome.isSlow === true && !check.needs.includes(id)) continue;
    const waitsFor = outcome.result === "not run" && outcome.waitsFor !== undefined ? outcome.waitsFor : id;
    return waitFor(waitsFor);
  }
  return undefined;
}

export function prerequisites({ needs, unlessFailed = [] }: Check): string[] {
  return [...needs, ...unlessFailed];
}

/** The order of the table, in which every check comes after those that it needs; or a random order that keeps this. */
function orderOf(checks: readonly Check[], seed: number | undefined): readonly Check[] {
  if (seed === undefined) return checks;
  const next = randomNumbers(seed);
  const waiting = [...checks];
  const known = new Set(checks.map(({ id }) => id));
  const done = new Set<string>();
  const order: Check[] = [];
  while (waiting.length > 0) {
    const ready = waiting.filter((check) =>
      prerequisites(check).every((id) => done.has(id) || !known.has(id)),
    );
    const chosen = ready[Math.floor(next() * ready.length)];
    if (chosen === undefined) throw new Error("checks need each other");
    waiting.splice(waiting.indexOf(chosen), 1);
    done.add(chosen.id);
    order.push(chosen);
  }
  return order;
}

/** Mulberry32: the same seed gives the same numbers from 0 up to 1. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
