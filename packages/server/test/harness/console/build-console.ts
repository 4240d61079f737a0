import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../../", import.meta.url));
const page = join(root, "packages/server/dist/console/index.html");
const sources = ["packages/console/src", "packages/client/dist"].map((folder) => join(root, folder));

/** The preparation of the tests has built it; a file that runs alone builds it again if its sources are newer. */
export function buildConsole(): void {
  const builtMs = existsSync(page) ? statSync(page).mtimeMs : 0;
  if (sources.every((folder) => newestMs(folder) <= builtMs)) return;
  execFileSync(process.execPath, [join(root, "packages/console/build.mjs")], { stdio: "inherit" });
}

function newestMs(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".tsbuildinfo"))
    .reduce((newest, { parentPath, name }) => Math.max(newest, statSync(join(parentPath, name)).mtimeMs), 0);
}
