// npm run sbom: prints a CycloneDX bill of materials of a production install. `npm sbom --omit=dev` leaves out every package that the
// root also names as a development dependency, so it is given a lockfile that has no development dependencies.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "../files.mjs";

/** @typedef {{ devDependencies?: unknown, dev?: boolean, optional?: boolean, devOptional?: boolean, link?: boolean, resolved?: string }} Locked */

/** Workspaces that a production install has no use for; what they depend on is locked as development dependencies. */
const developmentWorkspaces = ["packages/conformance", "packages/console", "packages/devnet"];

/** @param {string} path */
const readJson = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));

/** The lockfile of a production install: optional packages of other platforms are not part of it. */
function productionLock() {
  const lock = readJson("package-lock.json");
  const packages = Object.entries(/** @type {Record<string, Locked>} */ (lock.packages))
    .filter(([path, { dev, optional, devOptional, resolved }]) => {
      if (dev === true || developmentWorkspaces.includes(resolved ?? path)) return false;
      return !(optional === true || devOptional === true) || existsSync(join(root, path));
    })
    .map(([path, { devDependencies: _, ...locked }]) => [path, locked]);
  return { ...lock, packages: Object.fromEntries(packages) };
}

// The folder's name becomes the name of the whole.
const parent = mkdtempSync(join(tmpdir(), "bursar-sbom-"));
const folder = join(parent, "bursar");
try {
  const { devDependencies: _, workspaces, ...manifest } = readJson("package.json");
  const productive = workspaces.filter((/** @type {string} */ path) => !developmentWorkspaces.includes(path));
  const write = (/** @type {string} */ path, /** @type {unknown} */ content) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(content));
  };
  write("package.json", { ...manifest, workspaces: productive });
  write("package-lock.json", productionLock());
  for (const workspace of productive) {
    const { devDependencies: _, ...content } = readJson(`${workspace}/package.json`);
    write(`${workspace}/package.json`, content);
  }
  const args = ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "application"];
  const { status, error } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" });
  if (error !== undefined) throw error;
  process.exitCode = status ?? 1;
} finally {
  rmSync(parent, { recursive: true, force: true });
}
