import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { refuseOldNode } from "../packages/server/bin/refuse-old-node.mjs";

// Nearly every tool imports this file, and what follows fails in an old version.
refuseOldNode();

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
