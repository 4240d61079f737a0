import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The root folder of the checkout. */
export const root = join(import.meta.dirname, "..");

/** The project's files that match, tracked or not yet tracked, with paths from the root. @param {string[]} patterns */
export function listFiles(...patterns) {
  const args = [
    "ls-files",
    "--cached",
    "--others",
    "--exclude-standard",
    "-z",
    "--",
    ...patterns.map((pattern) => `:(glob)${pattern}`),
  ];
  const output = execFileSync("git", args, { cwd: root, encoding: "utf8" });
  return [
    ...new Set(output.split("\0").filter((path) => path !== "" && existsSync(join(root, path)))),
  ].sort();
}
