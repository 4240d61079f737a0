import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { OperatorError } from "../operator-error.js";
import { canTraverse, choosePostgresAccount, type PostgresAccount } from "./postgres-account.js";
import { type PostgresBinaries, preparePostgresBinaries } from "./postgres-binaries.js";

/** A database cluster on disk, ready to be started. */
export interface PostgresCluster {
  /** The real path, with symbolic links resolved. */
  dir: string;
  account: PostgresAccount | undefined;
  binaries: PostgresBinaries;
  user: string;
  password: string;
}

const databaseUser = "bursar";
const execute = promisify(execFile);

export interface ClusterPlace {
  dataDir: string;
  /** Where root stores files that PostgreSQL's account cannot reach in the data folder or the checkout. */
  fallbackDir: string;
}

/** Finds the cluster under the data folder, or creates it. */
export async function preparePostgresCluster(place: ClusterPlace): Promise<PostgresCluster> {
  const { dataDir } = place;
  const home = join(dataDir, "postgres");
  const account = choosePostgresAccount(home);
  const binaries = preparePostgresBinaries(account, account === undefined ? dataDir : place.fallbackDir);
  const passwordFile = join(dataDir, "postgres.password");
  if (existsSync(join(home, "PG_VERSION"))) assertSameVersion(home, binaries);
  else await create(place, home, passwordFile, account, binaries);
  return {
    dir: realpathSync(home),
    account,
    binaries,
    user: databaseUser,
    password: readPassword(passwordFile, home),
  };
}

/** PostgreSQL reads only files of its own major version, and its log says so less clearly. */
function assertSameVersion(home: string, { majorVersion }: PostgresBinaries): void {
  const found = readFileSync(join(home, "PG_VERSION"), "utf8").trim();
  if (found !== majorVersion)
    throw new OperatorError(
      `The database in ${home} was created by PostgreSQL ${found}, and this version of Bursar contains PostgreSQL ${majorVersion}. Use the version of Bursar that created it, or choose another folder with BURSAR_DATA_DIR.`,
    );
}

async function create(
  { dataDir, fallbackDir }: ClusterPlace,
  home: string,
  passwordFile: string,
  account: PostgresAccount | undefined,
  binaries: PostgresBinaries,
): Promise<void> {
  writeFileSync(passwordFile, randomBytes(32).toString("base64url"), { mode: 0o600 });
  const parent =
    account === undefined || canTraverse(dataDir, account) ? dataDir : join(fallbackDir, nameFor(dataDir));
  mkdirSync(parent, { recursive: true, mode: 0o755 });

  // initdb works in a draft folder that is renamed when it is complete, so that a kill leaves no partial cluster behind.
  const draft = join(parent, "postgres.draft");
  const draftPassword = join(parent, "postgres.draft-password");
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(draftPassword, readFileSync(passwordFile), { mode: 0o600 });
  if (account !== undefined) {
    chownSync(draft, account.uid, account.gid);
    chownSync(draftPassword, account.uid, account.gid);
  }
  try {
    await runInitdb(binaries.initdb, draft, draftPassword, account);
  } finally {
    rmSync(draftPassword, { force: true });
  }
  const target = join(parent, "postgres");
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
  if (target !== home) {
    if (lstatSync(home, { throwIfNoEntry: false }) !== undefined) rmSync(home, { recursive: true });
    symlinkSync(target, home);
  }
}

/** It takes a second, and much longer on a busy machine, so that it must not block the process. */
async function runInitdb(
  initdb: string,
  dir: string,
  passwordFile: string,
  account: PostgresAccount | undefined,
): Promise<void> {
  const options = [
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--locale=C.UTF-8",
  ];
  try {
    await execute(initdb, ["-D", dir, "-U", databaseUser, `--pwfile=${passwordFile}`, ...options], {
      cwd: dir,
      ...account,
    });
  } catch (cause) {
    const output = (cause as { stderr?: string }).stderr?.trim();
    throw new OperatorError(`The embedded PostgreSQL could not be set up in ${dir}: ${output || cause}`, {
      cause,
    });
  }
}

function readPassword(path: string, home: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new OperatorError(
      `The password of the database in ${home} is missing (${path}). Restore the file, or remove the data folder to start from scratch.`,
      { cause },
    );
  }
}

function nameFor(dataDir: string): string {
  return createHash("sha256").update(dataDir).digest("hex").slice(0, 16);
}
