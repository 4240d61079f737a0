import { groupRepeated, timesOf } from "./group-repeated.js";
import { escapeMarkup } from "./markup.js";
import { type Report, type ReportedCheck, shownResult } from "./report.js";
import { headlineOf, requestOf, selectNotifications } from "./show-notification.js";

/**
 * For a CI server, which shows a suite of tests that passed or were skipped as good. So only what does not prevent conformance is skipped,
 * and what waits for a check that is reported itself; what could not be decided is an error.
 */
export function junitReport({ checks, duration_ms: durationMs }: Report): string {
  const number = (wanted: string) => checks.filter((check) => kindOf(check) === wanted).length;
  const counts = `tests="${checks.length}" failures="${number("failure")}" errors="${number("error")}" skipped="${number("skipped")}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts} time="${(durationMs / 1000).toFixed(3)}">
  <testsuite name="bursar-conformance" ${counts}>
${checks.map(testCase).join("\n")}
  </testsuite>
</testsuites>
`;
}

function kindOf({ result, waits_for: waitsFor, slow }: ReportedCheck) {
  if (result === "passed" || result === "warned") return "passed";
  if (result === "failed") return "failure";
  const isSkipped = result === "not offered" || waitsFor !== undefined || slow === true;
  return isSkipped ? "skipped" : "error";
}

function testCase(check: ReportedCheck): string {
  const group = check.level === "profile" ? `profile.${check.profile}` : check.level;
  const open = `    <testcase classname="${group}" name="${escapeMarkup(`${check.id}: ${check.shows}`)}"`;
  const shown = shownResult(check);
  const reason = escapeMarkup(`${shown}: ${check.reason ?? ""}`);
  switch (kindOf(check)) {
    case "failure": {
      const { full, headlines, rest } = selectNotifications(check);
      const text = [
        check.sentence,
        `expected ${check.expected}`,
        `seen ${check.seen}`,
        ...(check.curl_setup === undefined ? [] : [check.curl_setup]),
        ...groupRepeated(check.exchanges ?? []).map(
          (group) => `${check.curl?.[group.at] ?? ""}${group.times === 1 ? "" : ` #${timesOf(group)}`}`,
        ),
        ...full.flatMap((one) => [headlineOf(one), requestOf(one)]),
        ...headlines.map(headlineOf),
        ...(rest === undefined ? [] : [rest]),
        ...(check.repeat === undefined ? [] : [check.repeat]),
      ].join("\n");
      return `${open}><failure message="${escapeMarkup(`expected ${check.expected}, seen ${check.seen}`)}">${escapeMarkup(text)}</failure></testcase>`;
    }
    case "error":
      return `${open}><error type="${shown}" message="${reason}"/></testcase>`;
    case "skipped":
      return `${open}><skipped message="${reason}"/></testcase>`;
    case "passed":
      return check.reason === undefined
        ? `${open}/>`
        : `${open}><system-out>${reason}</system-out></testcase>`;
  }
}
