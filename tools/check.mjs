// Every static check, one after the other; all of them run, so that one look shows all that is wrong.
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
  ["compatibility with released versions", process.execPath, ["tools/compatibility.mjs"]],
  ["generated files", process.execPath, ["tools/generate.mjs", "--check"]],
];

const failed = checks.filter(([what, command, args]) => {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${what}`);
  // A check that passes may have something to say, such as that there was nothing to compare with.
  if (status !== 0) console.log(stdout + stderr);
  else if (stdout.trim() !== "") console.log(`       ${stdout.trim().replaceAll("\n", "\n       ")}`);
  return status !== 0;
});
process.exit(failed.length === 0 ? 0 : 1);
