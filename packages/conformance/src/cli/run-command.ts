import { readFileSync } from "node:fs";
import { checkTable } from "../checks/table.js";
import { firstRequest } from "../checks/transaction-checks.js";
import { registerEarly } from "../checks/webhooks/register-early.js";
import type { Check } from "../engine/check.js";
import { showDecimal } from "../engine/decimal.js";
import { emptyRecord } from "../engine/exchange.js";
import { createKit } from "../engine/kit.js";
import { runChecks } from "../engine/run-checks.js";
import { namePrefixOf } from "../engine/run-names.js";
import { createSession, defaultBounds, type Session, slowDurationMs } from "../engine/session.js";
import { describeReply, errorOf, isObject, parseJson } from "../http/reply.js";
import { createRedactor } from "../report/redact.js";
import { createReport, type Report } from "../report/report.js";
import { safeLine } from "../report/safe-text.js";
import { progressMarks, terminalReport } from "../report/terminal.js";
import { readTarget } from "../target/read-target.js";
import { UsageFault } from "../target/read-values.js";
import type { Target } from "../target/target.js";
import { kitVersion } from "../version.js";
import { startReceiver } from "../webhooks/receiver.js";
import type { Arguments } from "./parse-arguments.js";
import {
  isOnThisMachine,
  isOtherHost,
  type PreparedTarget,
  prepareTarget,
  refuseOtherHost,
  refuseToken,
} from "./prepare-target.js";
import { refuseUnwritableReports, writeReports } from "./report-files.js";
import { selectChecks } from "./select-checks.js";

export interface Console {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly input: NodeJS.ReadableStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** More than any run creates; the announcement names it, and a test holds the table to it. */
export const transactionsMax = 200;
const cleanupMs = 10_000;

/** Runs the checks and writes the reports; returns the exit status. */
export async function runCommand(args: Arguments, console: Console): Promise<number> {
  const { values } = args;
  const checks = selectChecks(checkTable, values.only, values.skip);
  if (values.list === true) {
    console.out(listChecks(checks));
    return 0;
  }
  refuseUnwritableReports(values);
  const knownFailures = readBaseline(values.baseline);
  const source = values.target === undefined ? "" : readText(values.target);
  const given = {
    baseUrl: values["base-url"],
    token: values.token,
    clientId: values["client-id"],
    profiles: values.profile,
  };
  // Before the first request, and again with what the preset adds.
  const first = readTarget(source, given, console.environment);
  refuseUnboundedWrites(first, args);
  if (checks.some(({ writes }) => writes.includes("webhook endpoint"))) refuseUnknownReceiver(first, args);
  const prepared = await prepareTarget(source, given, console.environment);
  refuseUnboundedWrites(prepared.target, args);
  const session = await openSession(prepared, args, console.signal);
  console.err(announce(session, checks));
  if (checks.some(({ writes }) => writes.includes("transaction"))) await refuseWrongStart(session, prepared);
  const startedAt = new Date();
  const started = performance.now();
  const results = await runChecks(session, {
    checks,
    isSlow: values.slow === true,
    seed: args.seed,
    prepare: registerEarly,
    onResult: ({ outcome }) => console.err(progressMarks[outcome.result]),
  });
  console.err("\n\n");
  const leftBehind = await removeLeftovers(session);
  session.end();
  await session.receiver?.close();
  const report = createReport({
    session,
    results,
    kitVersion,
    startedAt,
    durationMs: performance.now() - started,
    seed: args.seed,
    isComplete: checks.length === checkTable.length,
    knownFailures,
    leftBehind,
    demanded: values.profile ?? [],
  });
  writeReports(values, report, session);
  console.out(terminalReport(report));
  return exitStatus(report, session, values.profile);
}

/** The first request of the run is a valid one, so it also shows whether address and token are right. If they are not, nothing is written. */
async function refuseWrongStart(session: Session, prepared: PreparedTarget): Promise<void> {
  const recorded = emptyRecord();
  const reply = await firstRequest(createKit(session, recorded)).then(
    (first) => first.reply,
    () => undefined,
  );
  session.earlyWarnings.push(...recorded.warnings);
  const code = reply === undefined ? undefined : errorOf(reply)?.["code"];
  const isRefused = reply?.status === 401 || (reply?.status === 403 && !/POLICY/.test(String(code)));
  if (reply === undefined) return;
  const isOther = isOtherHost(prepared, reply);
  if (!isRefused && !isOther) return;
  session.end();
  await session.receiver?.close();
  if (isOther) refuseOtherHost(session.target, reply.status);
  refuseToken(session.target, safeLine(createRedactor(session).text(describeReply(reply))));
}

/** A profile that the target file or a preset names is reported; one that the command names is demanded, so it decides the status too. */
export function exitStatus(
  { checks }: Pick<Report, "checks">,
  { unreachable }: Pick<Session, "unreachable">,
  demanded: readonly string[] = [],
): number {
  if (checks.some(({ result }) => result === "broken")) return 3;
  const isDemanded = ({ profile }: Report["checks"][number]) =>
    profile !== undefined && demanded.includes(profile);
  const deciding = checks.filter((check) => check.level === "contract" || isDemanded(check));
  const failed = deciding.filter(({ result }) => result === "failed");
  if (unreachable !== undefined && failed.length === 0) return 2;
  // With a baseline, only what is new counts.
  if (failed.some(({ known }) => known !== true)) return 1;
  const isKnown = new Set(failed.map(({ id }) => id));
  if (deciding.some((check) => isOpen(check, isKnown))) return 1;
  // A demand of which nothing could be looked at is not met.
  const isWithout = (profile: string) => {
    const own = checks.filter((check) => check.profile === profile);
    return own.length > 0 && own.every(({ result }) => result === "not offered");
  };
  return demanded.some(isWithout) ? 1 : 0;
}

/** Whether it was not decided, unless it is one of `--slow` or waits for a failure that is known. */
const isOpen = (
  { result, slow, waits_for: waitsFor }: Report["checks"][number],
  known: ReadonlySet<string>,
) => result === "not run" && slow !== true && (waitsFor === undefined || !known.has(waitsFor));

function listChecks(checks: readonly Check[]): string {
  return checks
    .map((check) => {
      const level = check.level === "profile" ? `profile ${check.profile}` : check.level;
      return `${check.id.padEnd(34)} ${level.padEnd(12)} ${check.shows}\n`;
    })
    .join("");
}

function readBaseline(file: string | undefined): ReadonlySet<string> {
  if (file === undefined) return new Set();
  const report = parseJson(readText(file));
  const checks =
    isObject(report) && report["schema"] === "bursar-conformance/1" ? report["checks"] : undefined;
  if (!Array.isArray(checks)) throw new UsageFault(`${file} is not a report of --json.`);
  return new Set(
    checks.filter(isObject).flatMap(({ id, result }) => (result === "failed" ? [String(id)] : [])),
  );
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageFault(`${file} cannot be read: ${error instanceof Error ? error.message : ""}.`, {
      cause: error,
    });
  }
}

/** It moves money: beyond this machine somebody has to say how much. */
function refuseUnboundedWrites(target: Target, { values, maxTotals }: Arguments): void {
  if (isOnThisMachine(target.baseUrl)) return;
  const assets = [
    ...new Set([target.transaction.asset, ...(target.exact === undefined ? [] : [target.exact.asset])]),
  ];
  const missing = assets.filter((asset) => !maxTotals.has(asset));
  if (values["allow-writes"] !== true || missing.length > 0)
    throw new UsageFault(
      `The run creates transactions at ${target.baseUrl.host}. Pass --allow-writes${missing.map((asset) => ` and --max-total ${asset}=AMOUNT`).join("")}.`,
    );
}

/** An endpoint that was registered by hand has an address, so the receiver cannot listen just anywhere. */
function refuseUnknownReceiver({ webhooks, baseUrl }: Target, { listen, values }: Arguments): void {
  const isKnown = webhooks?.register !== undefined || listen.port !== 0;
  if (webhooks === undefined || isKnown || !isReachableFrom(baseUrl, values)) return;
  throw new UsageFault(
    "webhooks.register is not in the target file, so the endpoint was registered by hand. Pass --webhook-listen HOST:PORT with the address that was registered, or name webhooks.register.",
  );
}

/** Whether the target can reach the receiver, as far as the kit knows. */
const isReachableFrom = (baseUrl: URL, values: Arguments["values"]) =>
  values["webhook-url"] !== undefined || isOnThisMachine(baseUrl);

async function openSession(prepared: PreparedTarget, args: Arguments, signal: AbortSignal): Promise<Session> {
  const publicUrl = args.values["webhook-url"];
  const receiver = isReachableFrom(prepared.target.baseUrl, args.values)
    ? await startReceiver({ ...args.listen, publicUrl }).catch(refuseListening)
    : undefined;
  return createSession({
    ...prepared,
    receiver,
    signal,
    bounds: {
      ...defaultBounds,
      durationMs: defaultBounds.durationMs + (args.values.slow === true ? slowDurationMs : 0),
      totals: args.maxTotals,
    },
  });
}

function refuseListening(error: unknown): never {
  throw new UsageFault(
    `The webhook receiver cannot listen: ${error instanceof Error ? error.message : ""}.`,
    { cause: error },
  );
}

/** What the checks create, as far as the target file lets them. */
function writesOf({ target, receiver }: Session, checks: readonly Check[]): Set<string> {
  const { credentials, webhooks, signedRequests, profiles } = target;
  const cannot = new Set<string>([
    ...(webhooks?.register === undefined || receiver === undefined ? ["webhook endpoint"] : []),
    ...(credentials.clientId === undefined ? ["token"] : []),
    ...(signedRequests === undefined ? ["signing key"] : []),
  ]);
  const run = checks.filter((check) => check.level !== "profile" || profiles.includes(check.profile));
  return new Set(run.flatMap(({ writes }) => writes).filter((what) => !cannot.has(what)));
}

function announce(session: Session, checks: readonly Check[]): string {
  const { target, runId, bounds } = session;
  const creates = writesOf(session, checks);
  const totals = [...bounds.totals].map(([asset, amount]) => `${showDecimal(amount)} ${asset}`);
  const lines = [
    `Checking ${target.baseUrl.href}, run ${runId}, ${checks.length} checks.`,
    creates.size === 0
      ? "It creates nothing."
      : `It creates: ${[...creates].map((what) => `${what}s`).join(", ")}; fewer than ${transactionsMax} transactions, most of ${target.transaction.amount} ${target.transaction.asset}${totals.length === 0 ? "" : `, at most ${totals.join(" and ")} in all`}. Their references begin with ${namePrefixOf(session)}.`,
  ];
  return `${lines.join("\n")}\n`;
}

/** Also after Ctrl-C and after the bounds: the requests that remove something have time and a bound of their own. */
async function removeLeftovers(session: Session): Promise<string[]> {
  const left: string[] = [];
  const bounds = { ...session.bounds, requestsMax: session.exchanges.length + session.leftovers.length * 5 };
  const deadline = performance.now() + cleanupMs;
  const kit = createKit({ ...session, bounds, deadline, signal: new AbortController().signal });
  for (const { what, remove } of session.leftovers) {
    const reason = await remove(kit).catch((error: unknown) =>
      error instanceof Error ? error.message : String(error),
    );
    if (reason !== undefined) left.push(`${what} (${reason})`);
  }
  return left;
}
