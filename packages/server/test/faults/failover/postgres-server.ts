import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { choosePostgresAccount } from "../../../src/embedded/postgres-account.js";
import { preparePostgresBinaries } from "../../../src/embedded/postgres-binaries.js";
import { openDatabase } from "../../../src/store/core/database.js";
import { Statement } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";

/** One PostgreSQL of a pair, in its own folder and on its own port, as a primary or as a standby. */
export interface PostgresServer {
  dir: string;
  port: number;
  /** Of the database `postgres`, without a password. */
  url: string;
  initialise: () => void;
  configure: (settings: Readonly<Record<string, string>>) => void;
  start: () => Promise<void>;
  /** Ends every process of it at once, as when its machine loses power. */
  kill: () => Promise<void>;
  /** Runs one statement and returns its rows. */
  ask: <Row>(text: string) => Promise<Row[]>;
}

/** The PostgreSQL of Debian and its derivatives. Without it the embedded one is used: both can do everything that is needed. */
export const installedBin = "/usr/lib/postgresql/15/bin";

export const user = "bursar";
const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "100",
  // A standby that is set up again gets everything since its copy was begun.
  wal_keep_size: "1GB",
  // Starting again after a kill is quick enough without more checkpoints.
  checkpoint_timeout: "30s",
  wal_retrieve_retry_interval: "200ms",
};

export function createPostgresServer(dir: string, port: number): PostgresServer {
  const account = choosePostgresAccount(dir);
  const binaries = existsSync(join(installedBin, "postgres"))
    ? { initdb: join(installedBin, "initdb"), postgres: join(installedBin, "postgres") }
    : preparePostgresBinaries(account, join(dirname(dir), "binaries"));
  const url = `postgres://${user}@127.0.0.1:${port}/postgres`;
  let child: ChildProcess | undefined;
  const endWithTests = () => endAll(child?.pid);
  process.once("exit", endWithTests);

  async function ask<Row>(text: string): Promise<Row[]> {
    const database = openDatabase({ url, connectionsMax: 1 });
    try {
      return await database.query<Row>(new Statement(text, []));
    } finally {
      await database.close();
    }
  }

  return {
    dir,
    port,
    url,
    initialise: () => {
      mkdirSync(dir, { mode: 0o700 });
      if (account !== undefined) chownSync(dir, account.uid, account.gid);
      const options = ["--auth=trust", "--encoding=UTF8", "--no-locale"];
      execFileSync(binaries.initdb, ["-D", dir, "-U", user, ...options], {
        cwd: dir,
        stdio: ["ignore", "ignore", "inherit"],
        ...account,
      });
    },
    configure: (given) => {
      const lines = Object.entries({ ...settings, port: String(port), ...given });
      appendFileSync(
        join(dir, "postgresql.conf"),
        lines.map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`).join(""),
      );
    },
    start: async () => {
      const log = openSync(`${dir}.log`, "a", 0o600);
      child = spawn(binaries.postgres, ["-D", dir], { cwd: dir, stdio: ["ignore", log, log], ...account });
      closeSync(log);
      await eventually(
        async () => {
          if (child?.exitCode !== null)
            throw new Error(`PostgreSQL did not start: ${readFileSync(`${dir}.log`, "utf8")}`);
          return await ask("SELECT 1 AS one").catch(() => []);
        },
        (rows) => rows.length === 1,
      );
    },
    kill: async () => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child?.once("exit", resolve));
      endAll(child.pid);
      await ended;
    },
    ask,
  };
}

/** Ends the server and its backends: these notice the end of the server by themselves, but could commit before they do. */
function endAll(pid: number | undefined): void {
  if (pid === undefined) return;
  for (const one of [pid, ...childrenOf(pid)]) {
    try {
      process.kill(one, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

function childrenOf(pid: number): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid)
    .map(Number);
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}
