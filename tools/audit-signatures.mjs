// Checks the registry's signatures of the installed packages, if the registry and its keys can be reached. It prints one line and
// fails only if a signature is invalid, because not every registry has signatures and not every machine reaches the keys.
import { spawnSync } from "node:child_process";
import { root } from "./files.mjs";

const timeoutMs = 60_000;
const { stdout } = spawnSync(
  "npm",
  ["audit", "signatures", "--json", "--fetch-retries=0", "--fetch-timeout=10000"],
  { cwd: root, encoding: "utf8", timeout: timeoutMs },
);
/** @type {{ invalid?: { name: string, version: string }[], missing?: unknown[], error?: { code?: string } }} */
const report = read(stdout);
if (report.invalid === undefined) {
  console.log(`signatures of packages: not checked (${report.error?.code ?? "no response"})`);
} else if (report.invalid.length === 0) {
  console.log(`signatures of packages: none is invalid, ${report.missing?.length ?? 0} are missing`);
} else {
  console.log(
    `signatures of packages: INVALID for ${report.invalid.map(({ name, version }) => `${name}@${version}`).join(", ")}`,
  );
  process.exitCode = 1;
}

/** @param {string | null} text */
function read(text) {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return {};
  }
}
