// npm run sbom: prints a CycloneDX bill of materials of a production install. `npm sbom --omit=dev` leaves out every package that the
// root also names as a development dependency, so it is given a lockfile that has no development dependencies.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "./files.mjs";

/** @typedef {{ devDependencies?: unknown, dev?: boolean, optional?: boolean, devOptional?: boolean, link?: boolean, workspaces?: string[] }} Locked */

/** @param {string} path */
const readJson = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));

/** The lockfile of a production install: optional packages of other platforms are not part of it. */
function productionLock() {
  const lock = readJson("package-lock.json");
  const packages = Object.entries(/** @type {Record<string, Locked>} */ (lock.packages))
    .filter(([path, { dev, optional, devOptional }]) => {
      if (dev === true) return false;
      return !(optional === true || devOptional === true) || existsSync(join(root, path));
    })
    .map(([path, { devDependencies: _, ...locked }]) => [path, locked]);
  return { ...lock, packages: Object.fromEntries(packages) };
}

// The folder's name becomes the name of the whole.
const parent = mkdtempSync(join(tmpdir(), "bursar-sbom-"));
const folder = join(parent, "bursar");
try {
  const { devDependencies: _, ...manifest } = readJson("package.json");
  const write = (/** @type {string} */ path, /** @type {unknown} */ content) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(content));
  };
  write("package.json", manifest);
  write("package-lock.json", productionLock());
  for (const workspace of manifest.workspaces)
    write(`${workspace}/package.json`, readJson(`${workspace}/package.json`));
  const args = ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "application"];
  const { status, error } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" });
  if (error !== undefined) throw error;
  process.exitCode = status ?? 1;
} finally {
  rmSync(parent, { recursive: true, force: true });
}
