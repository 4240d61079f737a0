// Runs before `npm start` and `npm test`, also on a fresh clone, so it uses only Node's own modules.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const nodeMin = { major: 20, minor: 19 };

refuseOldNode();
installIfChanged();
build();

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > nodeMin.major || (major === nodeMin.major && minor >= nodeMin.minor)) return;
  fail(`Bursar needs Node ${nodeMin.major}.${nodeMin.minor} or newer; this is ${process.versions.node}.`);
}

/** The lockfile's hash is stored inside node_modules, so that it is deleted together with node_modules. */
function installIfChanged() {
  const stamp = `${root}node_modules/.bursar-installed`;
  // Native packages depend on the platform, so a checkout that two platforms share is installed again for each.
  const wanted = createHash("sha256")
    .update(readFileSync(`${root}package-lock.json`))
    .update(`${process.platform} ${process.arch}`)
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  console.log("bursar: installing dependencies (npm ci), because the lockfile is new here");
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
  writeFileSync(stamp, wanted);
}

function build() {
  const compiler = `${root}node_modules/typescript/bin/tsc`;
  if (!existsSync(`${root}packages/server/dist`)) console.log("bursar: building (tsc -b)");
  run(process.execPath, [compiler, "-b", "packages/server"]);
}

/** @param {string} command @param {string[]} args */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (error !== undefined) fail(`${command} could not be started: ${error.message}`);
  if (status !== 0) fail(`${command} ${args.join(" ")} failed; what it wrote is above.`);
}

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(`bursar: ${message}`);
  process.exit(1);
}
