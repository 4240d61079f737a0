// The programs of Debian that proofs, checks and benches use. What is missing is installed if this is root; otherwise one line says so, and
// what needs it is skipped.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** @typedef {{ name: string, folders?: () => string[] }} Program */

const binFolders = () => ["/usr/bin", "/usr/sbin", "/usr/local/bin"];
const postgresFolders = () => versionsIn("/usr/lib/postgresql").map((version) => `${version}/bin`);

/** By the package that has them. */
const programs = /** @type {const} */ ({
  // The engine of Chromium without its windows: the proofs of the console take a third less CPU time with it.
  "chromium-headless-shell": { name: "chromium-headless-shell" },
  libfaketime: {
    name: "libfaketimeMT.so.1",
    folders: () => versionsIn("/usr/lib").map((folder) => `${folder}/faketime`),
  },
  pgbouncer: { name: "pgbouncer" },
  "postgresql-15": { name: "pgbench", folders: postgresFolders },
  "postgresql-client-15": { name: "pg_restore", folders: postgresFolders },
  prometheus: { name: "promtool" },
  wrk: { name: "wrk" },
});

/** @typedef {keyof typeof programs} PackageName */

/** @type {readonly PackageName[]} */
const ofProofs = [
  "chromium-headless-shell",
  "libfaketime",
  "pgbouncer",
  "postgresql-client-15",
  "prometheus",
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const missing = installMissing(ofProofs);
  if (missing.length > 0)
    console.log(`bursar: missing, so what needs them is skipped: ${missing.join(", ")}`);
}

/** @param {PackageName} packageName @returns {string | undefined} the path of its program */
export function findProgram(packageName) {
  const { name, folders = binFolders } = /** @type {Program} */ (programs[packageName]);
  return folders()
    .map((folder) => `${folder}/${name}`)
    .find((path) => existsSync(path));
}

/** @param {readonly PackageName[]} packageNames @returns {PackageName[]} those that are still missing */
export function installMissing(packageNames) {
  const isMissing = (/** @type {PackageName} */ name) => findProgram(name) === undefined;
  const missing = packageNames.filter(isMissing);
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return missing;
  console.log(`bursar: installing ${missing.join(", ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["update", "-qq"], { stdio: "ignore", env });
  // One after the other: a package that this release does not have keeps no other one from being installed.
  for (const name of missing)
    spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", name], { stdio: "ignore", env });
  return missing.filter(isMissing);
}

/** @param {string} folder */
function versionsIn(folder) {
  return existsSync(folder) ? readdirSync(folder).map((name) => `${folder}/${name}`) : [];
}
