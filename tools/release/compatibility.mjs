// Compares openapi.json with the document of every release, and lists what would break their clients. A release leaves its document
// in docs/api (tools/release/release.mjs); before the first one there is nothing to compare with.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../files.mjs";
import { findBreakingChanges } from "./breaking-changes.mjs";

/** Where a release leaves its document. @param {string} version */
export function baselinePath(version) {
  return `docs/api/openapi-${version}.json`;
}

/**
 * @param {string} folder the checkout
 * @returns {{ releases: string[], changes: string[] }} the documents compared with, and one sentence for each breaking change
 */
export function compareWithReleases(folder) {
  const read = (/** @type {string} */ path) => JSON.parse(readFileSync(join(folder, path), "utf8"));
  const names = existsSync(join(folder, "docs/api")) ? readdirSync(join(folder, "docs/api")) : [];
  const releases = names
    .filter((name) => /^openapi-.+\.json$/.test(name))
    .map((name) => `docs/api/${name}`)
    .sort();
  const changes = releases.flatMap((path) =>
    findBreakingChanges(read(path), read("openapi.json")).map((change) => `${path}: ${change}`),
  );
  return { releases, changes };
}

if (process.argv[1] === import.meta.filename) {
  const { releases, changes } = compareWithReleases(root);
  for (const change of changes) console.error(change);
  if (releases.length === 0)
    console.log("Nothing has been released yet, so there is nothing to compare with.");
  process.exit(changes.length === 0 ? 0 : 1);
}
