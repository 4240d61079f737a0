import { countRead } from "../checks/every/run-transactions.js";
import { contractVersion, sectionOf, sentences } from "../contract/sentences.js";
import type { CheckResult } from "../engine/run-checks.js";
import { type Session, timePassed } from "../engine/session.js";
import { errorOf, replyOf } from "../http/reply.js";
import type { Exchange } from "../http/send.js";
import { curlCommands } from "./curl.js";
import { createRedactor, type ShownExchange, type ShownNotification } from "./redact.js";

const resultNames = ["passed", "failed", "warned", "not offered", "not run", "broken"] as const;
export type ResultName = (typeof resultNames)[number];

export interface ReportedCheck {
  readonly id: string;
  readonly level: "contract" | "declared" | "profile";
  readonly profile?: string;
  /** The section of the contract; empty for what is not about the contract. */
  readonly section: string;
  /** The contract's sentence, or the document that a profile follows. */
  readonly sentence: string;
  readonly shows: string;
  readonly result: ResultName;
  readonly expected?: string;
  readonly seen?: string;
  readonly reason?: string;
  readonly waits_for?: string;
  /** Not run, because it runs only with `--slow`. */
  readonly slow?: true;
  readonly known?: true;
  /** Of the exchange that is `judged`. */
  readonly request_id?: string;
  /** It ran, and could not be sure in the time that it had. */
  readonly undecided?: true;
  /** Of checks that failed, warned or could not be sure. */
  readonly exchanges?: readonly ShownExchange[];
  /** The notifications that show it, or else what arrived at the receiver meanwhile, with its answers. */
  readonly notifications?: readonly ShownNotification[];
  /** How many others arrived meanwhile; `--har` has all of them. */
  readonly other_notifications?: number;
  /** A command for each exchange, after `curl_setup`. */
  readonly curl?: readonly string[];
  readonly curl_setup?: string;
  /** How to repeat what the commands alone do not repeat. */
  readonly repeat?: string;
}

type Counts = Readonly<Record<ResultName, number>> & {
  readonly total: number;
  /** Those of `not run` that run only with `--slow`. */
  readonly slow: number;
  /** Those of `not run` that ran, and could not be sure in the time that they had. */
  readonly undecided: number;
  /** Those of `failed` that the baseline has. */
  readonly known: number;
};

/** The result of a run; its JSON form is documented in the guide, and its members only ever get more. */
export interface Report {
  readonly schema: "bursar-conformance/1";
  readonly kit: string;
  readonly contract: string;
  readonly target: string;
  readonly run: string;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly requests: number;
  /** Of the transactions that were accepted with an id, and how many of these GET has shown: how large the sample is. */
  readonly transactions: { readonly accepted: number; readonly read: number };
  readonly seed: number | null;
  readonly is_complete: boolean;
  readonly conforms: boolean;
  readonly summary: string;
  readonly counts: { readonly contract: Counts; readonly [group: string]: Counts };
  readonly checks: readonly ReportedCheck[];
  /** What the kit has created and could not remove. */
  readonly left_behind: readonly string[];
}

export interface ReportParts {
  readonly session: Session;
  readonly results: readonly CheckResult[];
  readonly kitVersion: string;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly seed?: number | undefined;
  /** Whether every check of the table was selected. */
  readonly isComplete: boolean;
  readonly knownFailures: ReadonlySet<string>;
  readonly leftBehind: readonly string[];
  /** The profiles that the command line names. */
  readonly demanded?: readonly string[];
}

export function createReport(parts: ReportParts): Report {
  const { session, results, isComplete } = parts;
  const redactor = createRedactor(session);
  const checks = results.map((result) => reportCheck(result, redactor, parts.knownFailures));
  const counts = countGroups(checks);
  const conforms = isComplete && results.every((one) => one.check.level !== "contract" || isCompatible(one));
  return {
    schema: "bursar-conformance/1",
    kit: parts.kitVersion,
    contract: contractVersion,
    target: session.target.baseUrl.href,
    run: session.runId,
    started_at: parts.startedAt.toISOString(),
    duration_ms: Math.round(parts.durationMs),
    requests: session.exchanges.length,
    transactions: countRead(session),
    seed: parts.seed ?? null,
    is_complete: isComplete,
    conforms,
    summary: `${summarise(counts, { conforms, isComplete, demanded: parts.demanded ?? [] })}${describeTime(parts)}`,
    counts,
    checks,
    left_behind: parts.leftBehind.map(redactor.text),
  };
}

/** What the target does not have, and need not have, does not prevent conformance; what could not be looked at does. */
function isCompatible({ outcome }: CheckResult): boolean {
  const { result } = outcome;
  return (
    result === "passed" ||
    result === "warned" ||
    result === "not offered" ||
    (result === "not run" && outcome.isSlow === true)
  );
}

function reportCheck(
  { check, outcome, exchanges, judged, notifications, otherNotifications }: CheckResult,
  redactor: ReturnType<typeof createRedactor>,
  knownFailures: ReadonlySet<string>,
): ReportedCheck {
  const isContract = check.level === "contract";
  const base = {
    id: check.id,
    level: check.level,
    ...(check.level === "profile" ? { profile: check.profile } : {}),
    section: isContract ? sectionOf(check.sentence) : "",
    sentence: check.level === "contract" ? sentences[check.sentence].text : check.source,
    shows: check.shows,
    result: outcome.result,
  };
  if (outcome.result === "passed") return base;
  const isUndecided = outcome.result === "not run" && outcome.isUndecided === true;
  if (outcome.result !== "failed" && outcome.result !== "warned" && !isUndecided) {
    const { waitsFor, isSlow } = outcome.result === "not run" ? outcome : {};
    return {
      ...base,
      reason: redactor.text(outcome.reason),
      ...(waitsFor === undefined ? {} : { waits_for: waitsFor }),
      ...(isSlow === undefined ? {} : { slow: isSlow }),
    };
  }
  const shown = exchanges.map((exchange) => ({
    ...redactor.exchange(exchange),
    ...(exchange.index === judged ? { judged: true as const } : {}),
  }));
  const { commands, setup } = curlCommands(shown);
  const requestId = requestIdOf(exchanges.find(({ index }) => index === judged));
  return {
    ...base,
    ...(outcome.result === "failed"
      ? { expected: redactor.text(outcome.expected), seen: redactor.text(outcome.seen) }
      : { reason: redactor.text(outcome.reason) }),
    ...(outcome.result === "failed" && knownFailures.has(check.id) ? { known: true as const } : {}),
    ...(isUndecided ? { undecided: true as const } : {}),
    ...(requestId === undefined ? {} : { request_id: redactor.text(requestId) }),
    exchanges: shown,
    ...(notifications.length === 0 ? {} : { notifications: notifications.map(redactor.notification) }),
    ...(otherNotifications === 0 ? {} : { other_notifications: otherNotifications }),
    curl: commands,
    ...(setup === undefined ? {} : { curl_setup: setup }),
    ...(check.writes.includes("webhook endpoint") ? { repeat: repeatOf(check.id) } : {}),
  };
}

const repeatOf = (id: string) =>
  `The commands repeat the requests, but the receiver of the notifications is inside of the kit and has ended. Repeat all of it with the options of this run and --only ${id}`;

/** The request id of a response, in its error object or a header. */
function requestIdOf(exchange: Exchange | undefined): string | undefined {
  const reply = exchange === undefined ? undefined : replyOf(exchange);
  if (reply === undefined) return undefined;
  const id = errorOf(reply)?.["request_id"] ?? reply.header("x-request-id") ?? reply.header("request-id");
  return typeof id === "string" && id !== "" ? id : undefined;
}

function countGroups(checks: readonly ReportedCheck[]): Report["counts"] {
  const groups: Record<string, Counts> = { contract: count([]) };
  for (const check of checks) {
    const name = check.level === "profile" ? `profile ${check.profile}` : check.level;
    groups[name] = count(
      checks.filter((one) => (one.level === "profile" ? `profile ${one.profile}` : one.level) === name),
    );
  }
  return groups as Report["counts"];
}

function count(checks: readonly ReportedCheck[]): Counts {
  const counts = Object.fromEntries(
    resultNames.map((name) => [name, checks.filter(({ result }) => result === name).length]),
  );
  const number = (member: "slow" | "undecided" | "known") =>
    checks.filter((check) => check[member] === true).length;
  return {
    ...(counts as Record<ResultName, number>),
    total: checks.length,
    slow: number("slow"),
    undecided: number("undecided"),
    known: number("known"),
  };
}

/** A check that could not be sure has run: readers see that, although it counts with those that did not run. */
export const shownResult = ({ result, undecided }: ReportedCheck) =>
  undecided === true ? "not decided" : result;

/** A pass says little about transactions that nothing has read. */
export const describeRead = ({ transactions: { accepted, read } }: Report) =>
  `read ${read} of ${accepted} accepted transactions`;

/** One line that can be quoted. */
function summarise(
  counts: Report["counts"],
  {
    conforms,
    isComplete,
    demanded,
  }: Pick<Required<ReportParts>, "isComplete" | "demanded"> & {
    readonly conforms: boolean;
  },
): string {
  const { failed, broken, known } = counts.contract;
  const verdict = conforms ? "conforms to" : failed + broken > 0 ? "does not conform to" : "not decided for";
  const claim = isComplete ? verdict : "selected checks of";
  const always = new Set(["contract", ...demanded.map((profile) => `profile ${profile}`)]);
  const parts = Object.entries(counts)
    .filter(([name, { total, "not offered": missing }]) => always.has(name) || missing < total)
    .map(
      ([name, own]) =>
        `${name === "contract" ? `contract ${contractVersion}` : name}: ${describeCounts(own)}`,
    );
  const end = known > 0 && known === failed && broken === 0 ? "; every failure is in the baseline" : "";
  return `${claim} ${parts.join("; ")}${end}`;
}

/** A target that is slow is not to blame for what was not looked at in time, and a reader of the last line alone has to know. */
function describeTime({ session, results }: ReportParts): string {
  const reason = timePassed(session);
  const isOut = ({ outcome }: CheckResult) => outcome.result === "not run" && outcome.reason === reason;
  return results.some((one) => one.check.level === "contract" && isOut(one)) ? `. ${reason}` : "";
}

function describeCounts(counts: Counts): string {
  const { slow, undecided, known } = counts;
  const missing = { ...counts, "not run": counts["not run"] - slow - undecided, "not decided": undecided };
  const others = (["failed", "warned", "not decided", "not run", "broken", "not offered"] as const).filter(
    (name) => missing[name] > 0,
  );
  const ofThem = (name: string) => (name === "failed" && known > 0 ? ` (${known} known)` : "");
  return [
    `${counts.passed + counts.warned} of ${counts.total - slow}`,
    ...others.map((name) => `${missing[name]} ${name}${ofThem(name)}`),
    ...(slow === 0 ? [] : [`${slow} only with --slow`]),
  ].join(", ");
}
