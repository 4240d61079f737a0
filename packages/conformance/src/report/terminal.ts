import { sections } from "../contract/sentences.js";
import { profileNotNamed } from "../engine/run-checks.js";
import { groupRepeated, type RepeatedExchange, timesOf } from "./group-repeated.js";
import { describeRead, type Report, type ReportedCheck, type ResultName, shownResult } from "./report.js";
import { safeLine, safeText } from "./safe-text.js";
import { headlineOf, requestOf, selectNotifications } from "./show-notification.js";

export const progressMarks: Readonly<Record<ResultName, string>> = {
  passed: ".",
  failed: "F",
  warned: "w",
  "not offered": "-",
  "not run": "n",
  broken: "!",
};

/** A check that looks at the whole run can be about many exchanges, and a request can be long. The other reports have all of it. */
const shownExchangesMax = 3;
const fewExchanges = 8;
const shownBefore = 5;
const lineMaxChars = 2000;

/** What the terminal shows after the progress: failures, then a table by section, then one line that can be quoted. */
export function terminalReport(report: Report): string {
  const { checks } = report;
  const told = checks.filter(
    ({ result, undecided }) =>
      result === "failed" || result === "warned" || result === "broken" || undecided === true,
  );
  const left = report.left_behind.map((what) => `Could not be removed: ${safeLine(what)}`);
  const parts = [
    ...told.map(describeCheck),
    describeMissing(checks),
    table(report),
    left.join("\n"),
    `${report.requests} requests in ${(report.duration_ms / 1000).toFixed(1)} s, ${describeRead(report)}, run ${report.run}`,
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n${report.summary}\n`;
}

function describeCheck(check: ReportedCheck): string {
  const {
    id,
    section,
    sentence,
    expected,
    seen,
    reason,
    request_id: requestId,
    curl_setup: setup,
    repeat,
  } = check;
  const { full, headlines, rest } = selectNotifications(check);
  const where = section === "" ? "" : `Contract, section ${section}: `;
  const lines = [
    `${shownResult(check).toUpperCase()} ${id}${check.known === true ? " (known)" : ""}`,
    `  ${where}${sentence}`,
    ...(expected === undefined ? [] : [`  expected  ${safeLine(expected)}`]),
    ...(seen === undefined ? [] : [`  seen      ${safeLine(seen)}`]),
    ...(reason === undefined ? [] : [`  ${safeText(reason).replaceAll("\n", "\n  ")}`]),
    ...(requestId === undefined ? [] : [`  request   ${safeLine(requestId)}`]),
    ...full.flatMap((one) => [
      `  ${safeLine(headlineOf(one))}`,
      `    ${safeText(requestOf(one)).replaceAll("\n", "\n    ")}`,
    ]),
    ...headlines.map((one) => `  ${safeLine(headlineOf(one))}`),
    ...(rest === undefined ? [] : [`  ${rest}`]),
    ...(setup === undefined ? [] : [`  ${setup}`]),
    ...describeExchanges(check),
    ...(repeat === undefined ? [] : [`  ${repeat}`]),
  ];
  return lines.join("\n");
}

/** All exchanges of a check that has few, or the one that it judges with those before it; of one about every error, only those that it judges. */
function describeExchanges({ id, exchanges = [], curl = [] }: ReportedCheck): string[] {
  const groups = groupRepeated(exchanges);
  const isOfRun = id.startsWith("error.every.");
  const judged = groups.filter(({ isJudged }) => isJudged);
  const ofRun = (judged.length > 0 ? judged : groups).slice(0, shownExchangesMax);
  const shown = isOfRun ? ofRun : groups.length > fewExchanges ? lastBefore(groups) : groups;
  const left = groups.length - shown.length;
  return [
    ...shown.flatMap((group) => {
      const { method, url, status, failure = "" } = group.exchange;
      return [
        `  ${method} ${cutLine(url)} -> ${status ?? safeLine(failure)}${timesOf(group)}`,
        `    ${cutLine(curl[group.at] ?? "")}`,
      ];
    }),
    ...(left === 0 ? [] : [`  and ${left} more exchanges, which --json, --html and --har show`]),
  ];
}

/** What a check judges, with a few exchanges before it, and what was sent at the same time. */
function lastBefore(groups: readonly RepeatedExchange[]): readonly RepeatedExchange[] {
  const at = groups.findLastIndex(({ isJudged }) => isJudged);
  let end = at < 0 ? groups.length : at + 1;
  const isTogether = (place: number) => groups[place]?.exchange.concurrent === true;
  if (isTogether(end - 1)) while (isTogether(end)) end += 1;
  return groups.slice(Math.max(0, end - shownBefore - 1), end);
}

function cutLine(text: string): string {
  const line = safeLine(text);
  const left = line.length - lineMaxChars;
  return left <= 0 ? line : `${line.slice(0, lineMaxChars)}… (${left} more characters, in --json)`;
}

/** Each reason once, because one missing line of the target file can leave out many checks. */
function describeMissing(checks: readonly ReportedCheck[]): string {
  const reasons = new Map<string, string[]>();
  for (const { result, reason = "", id, undecided, profile = "" } of checks) {
    const isMissing = result === "not offered" || (result === "not run" && undecided !== true);
    if (!isMissing || reason === profileNotNamed(profile)) continue;
    const name = `${result}: ${safeLine(reason)}`;
    reasons.set(name, [...(reasons.get(name) ?? []), id]);
  }
  return [...reasons].map(([reason, ids]) => `${reason}\n  ${ids.join(", ")}`).join("\n");
}

function table({ checks, counts }: Report): string {
  const rows: [string, readonly ReportedCheck[]][] = [
    ...Object.entries(sections).map(([number, title]): [string, readonly ReportedCheck[]] => [
      `${number} ${title}`,
      checks.filter(({ section }) => section === number),
    ]),
    ...Object.keys(counts)
      .filter((name) => name !== "contract")
      .map((name): [string, readonly ReportedCheck[]] => [
        name,
        checks.filter(({ level, profile }) => (level === "profile" ? `profile ${profile}` : level) === name),
      ]),
  ];
  const heading = ["section".padEnd(30), "passed", "failed", "warned", "not offered", "not run"].join("  ");
  const lines = rows
    .filter(([, own]) => own.length > 0)
    .map(([name, own]) => {
      const number = (result: ResultName, width: number) =>
        String(own.filter((check) => check.result === result).length).padStart(width);
      return [
        name.padEnd(30),
        number("passed", 6),
        number("failed", 6),
        number("warned", 6),
        number("not offered", 11),
        number("not run", 7),
      ].join("  ");
    });
  return [heading, ...lines].join("\n");
}
