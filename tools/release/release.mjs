// Makes a release: stores the OpenAPI document that its clients rely on, and tags the commit. `--dry-run` only prints the plan.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../files.mjs";
import { baselinePath, compareWithReleases } from "./compatibility.mjs";

/**
 * @typedef {object} Release
 * @property {string} version
 * @property {string} baseline the file that the release writes, with its path from the root
 * @property {string} tag
 * @property {string[]} obstacles why it cannot be made; empty if it can
 */

/** @param {string} folder the checkout @returns {Release} */
export function planRelease(folder) {
  const version = readJson(folder, "package.json").version;
  const baseline = baselinePath(version);
  const tag = `v${version}`;
  const { changes } = compareWithReleases(folder);
  const obstacles = [
    ...otherVersions(folder, version),
    ...(git(folder, "status", "--porcelain") === "" ? [] : ["The checkout has uncommitted changes."]),
    ...(git(folder, "tag", "--list", tag) === "" ? [] : [`The tag ${tag} exists. Raise the version first.`]),
    ...(existsSync(join(folder, baseline)) ? [`${baseline} exists. Raise the version first.`] : []),
    ...changes.map((change) => `This would break clients of ${change}`),
  ];
  return { version, baseline, tag, obstacles };
}

/** Writes the baseline, commits it and tags the commit, so that the tag contains it. @param {string} folder @param {Release} release */
export function makeRelease(folder, { version, baseline, tag }) {
  mkdirSync(dirname(join(folder, baseline)), { recursive: true });
  copyFileSync(join(folder, "openapi.json"), join(folder, baseline));
  git(folder, "add", "--", baseline);
  git(folder, "commit", "--quiet", "-m", `release: ${version}`);
  git(folder, "tag", "--annotate", tag, "-m", `Bursar ${version}`);
}

/** Lists the packages whose version differs from that of the workspace. @param {string} folder @param {string} version */
function otherVersions(folder, version) {
  const workspaces = /** @type {string[]} */ (readJson(folder, "package.json").workspaces ?? []);
  return workspaces.flatMap((path) => {
    const own = readJson(folder, `${path}/package.json`).version;
    return own === version ? [] : [`${path} has version ${own}, the workspace has ${version}.`];
  });
}

/** @param {string} folder @param {string} path */
function readJson(folder, path) {
  return JSON.parse(readFileSync(join(folder, path), "utf8"));
}

/** @param {string} folder @param {string[]} args */
function git(folder, ...args) {
  return execFileSync("git", args, { cwd: folder, encoding: "utf8" }).trim();
}

if (process.argv[1] === import.meta.filename) {
  const release = planRelease(root);
  const isPossible = release.obstacles.length === 0;
  const isMade = isPossible && !process.argv.includes("--dry-run");
  if (isMade) makeRelease(root, release);
  console.log(`Bursar ${release.version}`);
  console.log(`${isMade ? "wrote" : "would write"} ${release.baseline}, a copy of openapi.json`);
  console.log(`${isMade ? "committed" : "would commit"} "release: ${release.version}"`);
  console.log(`${isMade ? "tagged" : "would tag"} ${release.tag}`);
  for (const obstacle of release.obstacles) console.error(`Cannot release: ${obstacle}`);
  process.exit(isPossible ? 0 : 1);
}
