// Runs before `npm start` and `npm test`, also on a fresh clone, so it uses only Node's own modules.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { refuseOldNode } from "../packages/server/bin/refuse-old-node.mjs";
import { fingerprint, isBuilt, recordBuild } from "./built.mjs";
import { explainMissing, missingPackages } from "./installed.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const progressMs = 5000;
const duration = "this takes from half a minute to a few minutes";

refuseOldNode();
await installIfChanged();
await buildIfChanged();

/** An installation that matches the lockfile is kept, also if it was made by hand. */
async function installIfChanged() {
  await restore();
  const missing = missingPackages(root);
  if (missing.length === 0) return;
  const isNew = !existsSync(join(root, "node_modules"));
  console.log(
    `bursar: installing dependencies (npm ci): ${isNew ? duration : explainMissing(root, missing)}`,
  );
  // `npm ci` begins by deleting what is installed, and offline it cannot replace it.
  for (const folder of installed()) if (existsSync(folder)) renameSync(folder, aside(folder));
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const status = await withProgress("installing", run("npm", args));
  if (status === 0) await remove(installed().map(aside));
  else {
    await restore();
    fail(
      `npm ${args.join(" ")} failed; what it wrote is above.${isNew ? "" : " The old packages are kept."}`,
    );
  }
}

/** Every folder that npm installs into. */
function installed() {
  const { workspaces } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return ["", ...workspaces].map((/** @type {string} */ workspace) => join(root, workspace, "node_modules"));
}

/** @param {string} folder */
function aside(folder) {
  return `${folder}.previous`;
}

/** Puts back what was moved aside, also after an installation that was interrupted. */
async function restore() {
  const replaced = installed().filter((folder) => existsSync(aside(folder)));
  await remove(replaced);
  for (const folder of replaced) renameSync(aside(folder), folder);
}

/** Half a gigabyte of small files can take many seconds. @param {string[]} folders */
async function remove(folders) {
  const removing = folders.map((folder) => rm(folder, { recursive: true, force: true }));
  await withProgress("removing the old packages", Promise.all(removing));
}

/** Nothing is asked of the compiler if the sources are those of the last build: that took a fifth of the CPU of a start. */
async function buildIfChanged() {
  const print = fingerprint(root);
  if (isBuilt(root, print)) return;
  await withProgress("building", build());
  recordBuild(root, print);
}

async function build() {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  if (!existsSync(join(root, "packages/server/dist"))) console.log("bursar: building (tsc -b)");
  const projects = [
    "packages/cli",
    "packages/client",
    "packages/conformance",
    "packages/server",
    "packages/signer",
    "packages/devnet",
  ];
  if ((await run(process.execPath, [compiler, "-b", ...projects])) !== 0)
    fail("the build failed; what the compiler wrote is above.");
  // The pages of /docs, in 0.2 s.
  if ((await run(process.execPath, [join(root, "tools/docs-site/build-docs.mjs")])) !== 0)
    fail("the pages of /docs could not be built; the reason is above.");
  const [ofConsole, ofService] = await Promise.all(
    ["packages/console/build.mjs", "tools/bundle.mjs"].map((tool) =>
      run(process.execPath, [join(root, tool)]),
    ),
  );
  if (ofConsole !== 0) fail("the console could not be built; the reason is above.");
  if (ofService !== 0) fail("the service could not be bundled; the reason is above.");
}

/** @param {string} command @param {string[]} args @returns {Promise<number>} the exit code */
function run(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: "inherit" });
  return new Promise((resolve) => {
    child.once("error", (error) => fail(`${command} could not be started: ${error.message}`));
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/** Prints from time to time that the work goes on. @template T @param {string} what @param {Promise<T>} work @returns {Promise<T>} */
async function withProgress(what, work) {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    console.log(`bursar: ${what}, ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }, progressMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(`bursar: ${message}`);
  process.exit(1);
}
