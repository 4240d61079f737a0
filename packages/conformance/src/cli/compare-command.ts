import { readFileSync } from "node:fs";
import { isObject, parseJson } from "../http/reply.js";
import { safeLine } from "../report/safe-text.js";
import { UsageFault } from "../target/read-values.js";
import type { Console } from "./run-command.js";

/** What has changed between two reports. Exit status 1 if something that passed does not pass any more. */
export function compareCommand([one = "", other = ""]: readonly string[], console: Console): number {
  const before = readResults(one);
  const after = readResults(other);
  const ids = [...new Set([...before.keys(), ...after.keys()])];
  const changes = ids.flatMap((id) => {
    const [was, is] = [before.get(id) ?? "absent", after.get(id) ?? "absent"];
    return was === is ? [] : [{ id, was, is }];
  });
  const isWorse = changes.some(({ was, is }) => isGood(was) && !isGood(is));
  const lines = changes.map(
    ({ id, was, is }) => `${safeLine(id).padEnd(34)} ${safeLine(was)} -> ${safeLine(is)}`,
  );
  console.out(`${lines.length === 0 ? `No difference in ${ids.length} checks.` : lines.join("\n")}\n`);
  return isWorse ? 1 : 0;
}

const isGood = (result: string) => result === "passed" || result === "warned";

function readResults(file: string): Map<string, string> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageFault(`${file} cannot be read.`, { cause: error });
  }
  const report = parseJson(text);
  const checks = isObject(report) ? report["checks"] : undefined;
  if (!Array.isArray(checks)) throw new UsageFault(`${file} is not a report of --json.`);
  return new Map(checks.filter(isObject).map(({ id, result }) => [String(id), String(result)]));
}
