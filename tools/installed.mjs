// Whether node_modules holds what the lockfile names. Used before anything is installed, so it needs only Node's own modules.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ version?: string, integrity?: string, link?: boolean, optional?: boolean, os?: string[], cpu?: string[], libc?: string[] }} Locked */

/** What the lockfile names and node_modules does not have. npm keeps a lockfile of what it installed inside node_modules. @param {string} root @returns {string[]} */
export function missingPackages(root) {
  const wanted = packagesOf(join(root, "package-lock.json"));
  const hidden = join(root, "node_modules/.package-lock.json");
  const found = existsSync(hidden) ? packagesOf(hidden) : {};
  return Object.entries(wanted)
    .filter(([path, locked]) => path.includes("node_modules/") && isNeeded(locked))
    .filter(([path, locked]) => !isSame(locked, found[path]) || !existsSync(join(root, path)))
    .map(([path]) => path);
}

/** Why an installation is made again. npm writes its own lockfile at the end, so one without it was interrupted. @param {string} root @param {string[]} missing */
export function explainMissing(root, missing) {
  if (!existsSync(join(root, "node_modules/.package-lock.json")))
    return "the last installation was not completed";
  return missing.length === 1
    ? "1 package differs from the lockfile"
    : `${missing.length} packages differ from the lockfile`;
}

/** @param {string} path @returns {Record<string, Locked>} */
function packagesOf(path) {
  return JSON.parse(readFileSync(path, "utf8")).packages ?? {};
}

/** An optional package is needed if it is made for this platform. Of those made for one C library, npm picks the right one. @param {Locked} locked */
function isNeeded({ optional, os, cpu, libc }) {
  if (optional !== true) return true;
  return (
    os?.includes(process.platform) === true && cpu?.includes(process.arch) === true && libc === undefined
  );
}

/** A workspace is a link to its folder and has no version of its own. @param {Locked} wanted @param {Locked | undefined} found */
function isSame(wanted, found) {
  if (wanted.link === true) return true;
  return found !== undefined && wanted.version === found.version && wanted.integrity === found.integrity;
}
