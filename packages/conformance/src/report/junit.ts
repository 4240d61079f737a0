import { escapeMarkup } from "./markup.js";
import type { Report, ReportedCheck } from "./report.js";
import { headlineOf, requestOf } from "./show-notification.js";

/** For a CI server. What is not offered or not run is skipped; a broken check is an error. */
export function junitReport({ checks, duration_ms: durationMs }: Report): string {
  const number = (...results: string[]) => checks.filter(({ result }) => results.includes(result)).length;
  const counts = `tests="${checks.length}" failures="${number("failed")}" errors="${number("broken")}" skipped="${number("not offered", "not run")}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts} time="${(durationMs / 1000).toFixed(3)}">
  <testsuite name="bursar-conformance" ${counts}>
${checks.map(testCase).join("\n")}
  </testsuite>
</testsuites>
`;
}

function testCase(check: ReportedCheck): string {
  const group = check.level === "profile" ? `profile.${check.profile}` : check.level;
  const open = `    <testcase classname="${group}" name="${escapeMarkup(`${check.id}: ${check.shows}`)}"`;
  const reason = escapeMarkup(check.reason ?? "");
  switch (check.result) {
    case "failed": {
      const text = [
        check.sentence,
        `expected ${check.expected}`,
        `seen ${check.seen}`,
        ...(check.curl_setup === undefined ? [] : [check.curl_setup]),
        ...(check.curl ?? []),
        ...(check.notifications ?? []).flatMap((one) => [headlineOf(one), requestOf(one)]),
        ...(check.repeat === undefined ? [] : [check.repeat]),
      ].join("\n");
      return `${open}><failure message="${escapeMarkup(`expected ${check.expected}, seen ${check.seen}`)}">${escapeMarkup(text)}</failure></testcase>`;
    }
    case "broken":
      return `${open}><error>${reason}</error></testcase>`;
    case "not offered":
    case "not run":
      return `${open}><skipped message="${reason}"/></testcase>`;
    case "warned":
      return `${open}><system-out>${reason}</system-out></testcase>`;
    case "passed":
      return `${open}/>`;
  }
}
