// Whether the build is one of the present sources, so that a start need not ask the compiler. Only Node's own modules are used.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the build reads besides the packages. The lockfile stands for the compiler and the libraries. */
const inputs = [
  "docs",
  "tools/docs-site",
  "packages/console/build.mjs",
  "tools/bundle.mjs",
  "tools/prepare.mjs",
  "tsconfig.base.json",
  "package-lock.json",
];
const inputsOfPackage = ["src", "index.html", "public", "vite.config.ts", "tsconfig.json", "package.json"];
/** It is built into the server's package. */
const consolePackage = "packages/console";
const consolePage = "packages/server/dist/console/index.html";
const bundle = "packages/server/dist/bundle/program.js";
const stampFile = "packages/server/dist/.built";

/** Names, sizes and times of all sources. @param {string} root */
export function fingerprint(root) {
  const hash = createHash("sha256").update(process.version);
  const ofPackages = packagesOf(root).flatMap((path) => inputsOfPackage.map((input) => `${path}/${input}`));
  for (const path of [...inputs, ...ofPackages].flatMap((input) => filesBelow(root, input)).sort()) {
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

/** Whether a build of these sources has ended well. @param {string} root @param {string} print */
export function isBuilt(root, print) {
  const dists = packagesOf(root)
    .filter((path) => path !== consolePackage)
    .map((path) => `${path}/dist`);
  const outputs = [bundle, stampFile, consolePage, ...dists];
  return (
    outputs.every((path) => existsSync(join(root, path))) &&
    readFileSync(join(root, stampFile), "utf8") === print
  );
}

/** @param {string} root @param {string} print that of the sources before they were built */
export function recordBuild(root, print) {
  writeFileSync(join(root, stampFile), print);
}

/** @param {string} root */
function packagesOf(root) {
  return readdirSync(join(root, "packages")).map((name) => `packages/${name}`);
}

/** @param {string} root @param {string} path @returns {string[]} */
function filesBelow(root, path) {
  if (!existsSync(join(root, path))) return [];
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(root, `${path}/${entry.name}`) : [`${path}/${entry.name}`],
  );
}
