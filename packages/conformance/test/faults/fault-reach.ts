import { readdirSync, readFileSync } from "node:fs";
import { failingChecks } from "../../src/checks/failing-checks.js";
import { checkTable } from "../../src/checks/table.js";
import type { Check } from "../../src/engine/check.js";
import { type CheckResult, prerequisites } from "../../src/engine/run-checks.js";
import { type FaultName, faultNames, faults } from "./faults.js";

/**
 * Which checks a fault can reach. One that is built into the order book alone changes nothing but the responses of the order book, so only
 * checks that ask for it, and what they need, have to run. Where a fault is built in is read from the sources of the server, and what a check
 * asks for from a run without a fault: neither is a list that somebody has to keep. BURSAR_CONFORMANCE_ALL=1 runs all checks with every fault.
 */
const folder = new URL("../servers/plain/", import.meta.url);
const sources = readdirSync(folder).map((file) => ({
  file,
  text: readFileSync(new URL(file, folder), "utf8"),
}));

const asks =
  (path: RegExp) =>
  ({ exchanges }: CheckResult) =>
    exchanges.some(({ request }) => path.test(request.url.pathname));

/** Files whose faults are seen only in this way. */
const reaches: Readonly<Record<string, (result: CheckResult) => boolean>> = {
  "plain-book.ts": asks(/\/orderbook$/),
  "plain-documents.ts": asks(/\/(openapi|asyncapi)\.json$/),
  "plain-stream.ts": asks(/\/v1\/stream$/),
  "plain-webhooks.ts": (result) =>
    result.notifications.length > 0 ||
    asks(/\/webhook-endpoints/)(result) ||
    allNeeds(result.check).has("webhook.sent"),
};

/** Faults that a check of the contract finds in what only the checks of a profile ask for. */
const throughProfiles: readonly FaultName[] = ["html-429", "final-for-the-second"];
/** One of so many faults runs with the checks of profiles and of failing transactions too, although a check of the contract finds it; all pairs do. */
const sampleEach = 4;

const contractTable = checkTable.filter(({ level }) => level === "contract");
/** Those about transactions that fail make each run longer, and find what others find of usual transactions. */
const ofFailing = new Set(failingChecks.map(({ id }) => id));
const usualTable = contractTable.filter(({ id }) => !ofFailing.has(id));

function isOfContract(fault: FaultName): boolean {
  const isFound = contractTable.some(({ id }) => id === faults[fault].check);
  return isFound && !throughProfiles.includes(fault) && faultNames.indexOf(fault) % sampleEach !== 0;
}

/** The checks to run with a fault: all, those of the contract, or those that it can reach with those that they need. */
export function checksFor(fault: FaultName, withoutFault: readonly CheckResult[]): readonly Check[] {
  const files = sources.filter(({ text }) => text.includes(`"${fault}"`)).map(({ file }) => file);
  const [reach] = files.length === 1 ? files.flatMap((file) => reaches[file] ?? []) : [];
  if (process.env["BURSAR_CONFORMANCE_ALL"] === "1") return checkTable;
  if (reach === undefined && isOfContract(fault))
    return ofFailing.has(faults[fault].check) ? contractTable : usualTable;
  if (reach === undefined) return checkTable;
  const reached = withoutFault.filter(reach).map(({ check }) => check);
  const ids = new Set(reached.flatMap((check) => [check.id, ...allNeeds(check)]));
  return checkTable.filter(({ id }) => ids.has(id));
}

/** What a check needs, and what that needs. */
function allNeeds(check: Check, found = new Set<string>()): Set<string> {
  for (const id of prerequisites(check)) {
    const needed = checkTable.find((one) => one.id === id);
    if (needed === undefined || found.has(id)) continue;
    found.add(id);
    allNeeds(needed, found);
  }
  return found;
}
