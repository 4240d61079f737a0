import { createHash } from "node:crypto";
import { sections } from "../contract/sentences.js";
import { groupRepeated, type RepeatedExchange, timesOf } from "./group-repeated.js";
import { escapeMarkup } from "./markup.js";
import type { ShownExchange } from "./redact.js";
import { describeRead, type Report, type ReportedCheck, shownResult } from "./report.js";
import { headlineOf, requestOf, selectNotifications } from "./show-notification.js";

const style = `
:root { color-scheme: light dark; --line: #8885; --bad: #b3261e; --good: #1b6e3c; --odd: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --good: #7fd6a1; --odd: #ffc766; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.summary { font-weight: 600; border-left: .3rem solid var(--good); padding-left: .8rem; }
.summary.bad { border-color: var(--bad); }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid var(--line); }
.passed { color: var(--good); } .failed, .broken { color: var(--bad); font-weight: 600; } .warned, .not { color: var(--odd); }
blockquote { margin: .5rem 0; padding-left: .8rem; border-left: .2rem solid var(--line); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line); padding: .5rem; font-size: 13px; }
code { font-size: 13px; } section.failure { break-inside: avoid-page; border-top: 2px solid var(--line); }
@media print { body { margin: 0; max-width: none; } details > * { display: block; } }
`;

/** One file without scripts, images or links to anything; its policy allows its own style alone. */
export function htmlReport(report: Report): string {
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const failures = report.checks.filter(
    ({ result, undecided }) =>
      result === "failed" || result === "broken" || result === "warned" || undecided === true,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conformance of ${escapeMarkup(report.target)}</title>
<style>${style}</style>
</head>
<body>
<h1>Conformance of ${escapeMarkup(report.target)}</h1>
<p class="summary${report.conforms ? "" : " bad"}">${escapeMarkup(report.summary)}</p>
<p>Run ${escapeMarkup(report.run)} of ${escapeMarkup(report.started_at)}: ${report.requests} requests in ${(report.duration_ms / 1000).toFixed(1)} s, ${describeRead(report)}, kit ${escapeMarkup(report.kit)}.</p>
${report.left_behind.map((what) => `<p class="warned">Could not be removed: ${escapeMarkup(what)}</p>`).join("\n")}
${failures.length === 0 ? "" : `<h2>What to look at</h2>\n${failures.map(failure).join("\n")}`}
${groupsOf(report)
  .map(([title, checks]) => group(title, checks))
  .join("\n")}
</body>
</html>
`;
}

function groupsOf({ checks }: Report): [string, ReportedCheck[]][] {
  const bySection = Object.entries(sections).map(([number, title]): [string, ReportedCheck[]] => [
    `Section ${number}: ${title}`,
    checks.filter(({ section }) => section === number),
  ]);
  const others = [...new Set(checks.filter(({ section }) => section === "").map(nameOf))];
  const rest = others.map((name): [string, ReportedCheck[]] => [
    name,
    checks.filter((check) => check.section === "" && nameOf(check) === name),
  ]);
  return [...bySection, ...rest].filter(([, own]) => own.length > 0);
}

const nameOf = ({ level, profile }: ReportedCheck) =>
  level === "profile" ? `Profile ${profile}` : "Declared by the target";

function group(title: string, checks: readonly ReportedCheck[]): string {
  const rows = checks.map(
    (check) =>
      `<tr><td class="${check.result.split(" ")[0]}">${shownResult(check)}</td><td><code>${escapeMarkup(check.id)}</code></td><td>${escapeMarkup(check.shows)}${check.reason === undefined ? "" : `<br><small>${escapeMarkup(check.reason)}</small>`}</td></tr>`,
  );
  return `<h2>${escapeMarkup(title)}</h2>\n<table>\n<tr><th>result</th><th>check</th><th>shows</th></tr>\n${rows.join("\n")}\n</table>`;
}

function failure(check: ReportedCheck): string {
  const {
    id,
    result,
    section,
    sentence,
    expected,
    seen,
    reason,
    request_id: requestId,
    exchanges = [],
    curl = [],
    curl_setup: setup,
    repeat,
  } = check;
  const line = (name: string, text: string | undefined) =>
    text === undefined ? "" : `<tr><th>${name}</th><td>${escapeMarkup(text)}</td></tr>`;
  return `<section class="failure">
<h3><span class="${result.split(" ")[0]}">${shownResult(check)}</span> <code>${escapeMarkup(id)}</code></h3>
<blockquote>${section === "" ? "" : `Contract, section ${section}: `}${escapeMarkup(sentence)}</blockquote>
<table>${line("expected", expected)}${line("seen", seen)}${line("reason", reason)}${line("request id", requestId)}</table>
<details open><summary>${count(exchanges.length, "exchange")}</summary>
${setup === undefined ? "" : `<p>The keys of this run are remembered, so the commands take new ones:</p>\n<pre>${escapeMarkup(setup)}</pre>\n`}${groupRepeated(
  exchanges,
)
  .map(
    (group) =>
      `<pre>${escapeMarkup(showExchange(group))}</pre>\n<pre>${escapeMarkup(curl[group.at] ?? "")}</pre>`,
  )
  .join("\n")}
</details>
${showNotifications(check)}
${repeat === undefined ? "" : `<p>${escapeMarkup(repeat)}</p>`}
</section>`;
}

function showNotifications(check: ReportedCheck): string {
  const { full, headlines, rest } = selectNotifications(check);
  const lines = [
    ...full.map(
      (one) => `<p>${escapeMarkup(headlineOf(one))}</p>\n<pre>${escapeMarkup(requestOf(one))}</pre>`,
    ),
    ...[...headlines.map(headlineOf), ...(rest === undefined ? [] : [rest])].map(
      (line) => `<p>${escapeMarkup(line)}</p>`,
    ),
  ];
  return lines.length === 0
    ? ""
    : `<details open><summary>Notifications</summary>\n${lines.join("\n")}\n</details>`;
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;

function showExchange(group: RepeatedExchange): string {
  const { exchange } = group;
  const headers = (list: ShownExchange["request_headers"] = []) =>
    list.map(([name, value]) => `${name}: ${value}`);
  const sent = [
    `${exchange.method} ${exchange.url}`,
    ...headers(exchange.request_headers),
    "",
    `${exchange.request_body_encoding === undefined ? "" : "(base64) "}${exchange.request_body ?? ""}`,
  ];
  const received =
    exchange.status === undefined
      ? [exchange.failure ?? ""]
      : [
          `${exchange.status}${timesOf(group)}`,
          ...headers(exchange.response_headers),
          "",
          exchange.response_body ?? "",
        ];
  return [...sent, "", ...received].join("\n");
}
