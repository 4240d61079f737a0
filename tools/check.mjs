// Runs every static check. A failure does not stop the others, so that one run reports all faults. The compiler comes first, because it
// writes what some of the others read; those run beside each other, because most of them use one core.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { root } from "./files.mjs";

const bin = (/** @type {string} */ name) => join(root, "node_modules", ".bin", name);

/** @typedef {[what: string, command: string, args: string[]]} Check */

/** @type {Check} */
const types = ["types", bin("tsc"), ["-b"]];

/** @type {Check[]} */
const others = [
  ["format and lint", bin("biome"), ["check", "--error-on-warnings", "."]],
  ["import arrows", process.execPath, ["tools/arrows.mjs"]],
  [
    "unused files, exports and dependencies",
    bin("knip"),
    ["--no-progress", "--treat-config-hints-as-errors"],
  ],
  ["compatibility with released versions", process.execPath, ["tools/release/compatibility.mjs"]],
  ["alert rules", process.execPath, ["tools/alert-rules.mjs"]],
  ["OpenAPI and AsyncAPI documents", process.execPath, ["tools/lint-documents/lint-documents.mjs"]],
  ["generated files", process.execPath, ["tools/generate.mjs", "--check"]],
];

const passed = [await passes(types), ...(await Promise.all(others.map(passes)))];
process.exit(passed.includes(false) ? 1 : 0);

/** @param {Check} check */
async function passes([what, command, args]) {
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.on("error", resolve).on("close", resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${what}`);
  // A check that passes can print a note, for example that there is no release to compare with.
  if (status !== 0) console.log(stdout + stderr);
  else if (stdout.trim() !== "") console.log(`       ${stdout.trim().replaceAll("\n", "\n       ")}`);
  return status === 0;
}
