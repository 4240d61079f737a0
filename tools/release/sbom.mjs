// npm run sbom: prints a CycloneDX bill of materials of a production install, with what is bundled into the console. `npm sbom --omit=dev`
// leaves out every package that the root also names as a development dependency, so it is given a lockfile that has no development
// dependencies.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "../files.mjs";

/** @typedef {{ dependencies?: Record<string, string>, devDependencies?: Record<string, string>, dev?: boolean, optional?: boolean, devOptional?: boolean, link?: boolean, resolved?: string }} Locked */

/** Workspaces that a production install has no use for; what they depend on is locked as development dependencies. */
const developmentWorkspaces = ["packages/conformance", "packages/devnet"];
/** Its packages are not installed in production: they are inside the files that its build has written. */
const consoleWorkspace = "packages/console";
const buildTools = /^(@types\/|vite$)/;

/** @param {string} path */
const readJson = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));

/** What the build of the console bundles, as its dependencies. @param {Record<string, string>} [declared] */
function bundledOf(declared = {}) {
  return Object.fromEntries(Object.entries(declared).filter(([name]) => !buildTools.test(name)));
}

/** Packages that bundled ones depend on. @param {Record<string, Locked>} packages */
function bundledPaths(packages) {
  /** @type {Set<string>} */
  const paths = new Set();
  const add = (/** @type {string} */ from, /** @type {string[]} */ names) => {
    for (const name of names) {
      const path = [`${from}/node_modules/${name}`, `node_modules/${name}`].find((one) => one in packages);
      if (path === undefined || paths.has(path)) continue;
      paths.add(path);
      add(path, Object.keys(packages[path]?.dependencies ?? {}));
    }
  };
  add(consoleWorkspace, Object.keys(bundledOf(packages[consoleWorkspace]?.devDependencies)));
  return paths;
}

/** The lockfile of a production install: optional packages of other platforms are not part of it. */
function productionLock() {
  const lock = readJson("package-lock.json");
  const all = /** @type {Record<string, Locked>} */ (lock.packages);
  const bundled = bundledPaths(all);
  const packages = Object.entries(all)
    .filter(([path, { dev, optional, devOptional, link, resolved }]) => {
      const place = link === true ? resolved : path;
      if (place === consoleWorkspace || bundled.has(path)) return true;
      if (dev === true || developmentWorkspaces.includes(place ?? path)) return false;
      return !(optional === true || devOptional === true) || existsSync(join(root, path));
    })
    .map(([path, { devDependencies, dev: _, ...locked }]) =>
      path === consoleWorkspace
        ? [path, { ...locked, dependencies: bundledOf(devDependencies) }]
        : [path, locked],
    );
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
    const { devDependencies, ...content } = readJson(`${workspace}/package.json`);
    const own = workspace === consoleWorkspace ? { dependencies: bundledOf(devDependencies) } : {};
    write(`${workspace}/package.json`, { ...content, ...own });
  }
  const args = ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "application"];
  const { status, error } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" });
  if (error !== undefined) throw error;
  process.exitCode = status ?? 1;
} finally {
  rmSync(parent, { recursive: true, force: true });
}
