// Runs every static check, one after the other. A failure does not stop the others, so that one run reports all faults.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./files.mjs";

const bin = (/** @type {string} */ name) => join(root, "node_modules", ".bin", name);

/** @type {[what: string, command: string, args: string[]][]} */
const checks = [
  ["types", bin("tsc"), ["-b"]],
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

const failed = checks.filter(([what, command, args]) => {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${what}`);
  // A check that passes can print a note, for example that there is no release to compare with.
  if (status !== 0) console.log(stdout + stderr);
  else if (stdout.trim() !== "") console.log(`       ${stdout.trim().replaceAll("\n", "\n       ")}`);
  return status !== 0;
});
process.exit(failed.length === 0 ? 0 : 1);
