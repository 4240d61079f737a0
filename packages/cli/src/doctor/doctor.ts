import type { Command, Context } from "../commands/command.js";
import { exitCodes } from "../exit-codes.js";
import { safe } from "../terminal/safe-text.js";
import type { Style } from "../terminal/style.js";
import type { Finding } from "./finding.js";

export const doctorCommand: Command = {
  path: "doctor",
  summary:
    "check the address, TLS, the clock, credentials, the stream, webhooks and, beside a server, its database",
  operations: [
    "GET /healthz",
    "GET /readyz",
    "POST /oauth/token",
    "GET /v1/me",
    "GET /v1/events",
    "GET /v1/stream",
    "GET /v1/webhook-endpoints",
  ],
  columns: ["state", "check", "found", "advice"],
  run: examine,
};

async function examine(context: Context): Promise<number | undefined> {
  const [{ checkService }, { checkServer }] = await Promise.all([
    import("./service-checks.js"),
    import("./server-checks.js"),
  ]);
  const { output } = context;
  const findings: Finding[] = [];
  for (const checks of [checkService(context), checkServer(context)])
    for await (const finding of checks) {
      findings.push(finding);
      // People watch the checks as they are made; a JSON document is printed when it is whole.
      if (output.format !== "json") output.item(finding, () => lineOf(finding, output.style));
    }
  if (output.format === "json") await output.list(findings, []);
  return findings.some(({ state }) => state === "failed") ? exitCodes.refused.code : undefined;
}

function lineOf({ state, check, found, advice }: Finding, style: Style): string {
  const paint = { ok: style.good, warning: style.warn, failed: style.bad, skipped: style.dim }[state];
  const line = `${paint(state.padEnd(7))}  ${check.padEnd(17)}  ${safe(found)}`;
  return advice === undefined ? line : `${line}\n         ${" ".repeat(17)}  ${safe(advice)}`;
}
