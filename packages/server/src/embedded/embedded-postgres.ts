import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { explainFileError, OperatorError } from "../operator-error.js";
import { freePort } from "./free-port.js";
import { acquireInstanceLock } from "./instance-lock.js";
import { preparePostgresCluster } from "./postgres-cluster.js";
import { type PostgresProcess, runPostgres } from "./postgres-process.js";

/** A real PostgreSQL under the data folder, kept running until it is stopped. */
export interface EmbeddedPostgres {
  url: string;
  /** The real folder of the cluster; root may keep it outside the data folder. */
  dir: string;
  stop: () => Promise<void>;
}

export interface EmbeddedPostgresOptions {
  dataDir: string;
  fallbackDir?: string;
  log: Logger;
  /** Called when PostgreSQL has ended and could not be restarted. */
  onLost: (error: Error) => void;
}

const rootFallbackDir = "/var/lib/bursar";
const portAttemptsMax = 3;
const restartAttemptsMax = 20;
const restartDelayMs = 250;

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  makeDataDir(options.dataDir);
  const dataDir = realpathSync(options.dataDir);
  const lock = acquireInstanceLock(dataDir);
  try {
    return await start({ ...options, dataDir }, lock.release);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** As root, the folder can be traversed by PostgreSQL's account; secret files have mode 600. */
function makeDataDir(path: string): void {
  try {
    makeFolders(resolve(path), process.getuid?.() === 0 ? 0o711 : 0o700);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = explainFileError(error)?.reason ?? (error as Error).message;
    throw new OperatorError(
      `The data folder ${path} cannot be used: ${reason}. Choose another one with BURSAR_DATA_DIR.`,
      { cause: error },
    );
  }
}

/** One after the other: `recursive` of Node 20 repeats without end where the system refuses with ENOENT, as in /proc. */
function makeFolders(path: string, mode: number): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found === undefined && !existsSync(dirname(path))) makeFolders(dirname(path), mode);
  mkdirSync(path, { mode });
}

async function start(options: EmbeddedPostgresOptions, release: () => void): Promise<EmbeddedPostgres> {
  const { dataDir, log, onLost } = options;
  const cluster = await preparePostgresCluster({
    dataDir,
    fallbackDir: options.fallbackDir ?? rootFallbackDir,
  });
  const logFile = join(dataDir, "postgres.log");
  let { running, port } = await startOnFreePort((candidate) => runPostgres(cluster, candidate, logFile));
  let stopping = false;

  /** Restarts PostgreSQL if it ends by itself, on the same port, so that the connection pool recovers. */
  async function keepRunning(): Promise<void> {
    for (;;) {
      await running.ended;
      if (stopping) return;
      log.error("the embedded PostgreSQL has ended unexpectedly; restarting it");
      running = await restart(() => runPostgres(cluster, port, logFile));
      if (stopping) await running.stop();
      else log.warn("the embedded PostgreSQL is running again");
    }
  }
  const kept = keepRunning().catch((error: unknown) => {
    if (!stopping) onLost(error instanceof Error ? error : new Error(String(error)));
  });

  return {
    url: `postgres://${cluster.user}:${cluster.password}@127.0.0.1:${port}/postgres`,
    dir: cluster.dir,
    stop: async () => {
      stopping = true;
      await running.stop();
      await kept;
      release();
    },
  };
}

async function startOnFreePort(
  run: (port: number) => Promise<PostgresProcess>,
): Promise<{ running: PostgresProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return { running: await run(port), port };
    } catch (error) {
      // Another program can have taken the port in the meantime.
      if (attempt === portAttemptsMax) throw error;
    }
  }
}

/** After a crash the shared memory of the last backends can still be in use for a moment, so the restart is retried. */
async function restart(run: () => Promise<PostgresProcess>): Promise<PostgresProcess> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (cause) {
      if (attempt === restartAttemptsMax) {
        throw new OperatorError(
          "The embedded PostgreSQL has ended and cannot be restarted. See postgres.log in the data folder.",
          {
            cause,
          },
        );
      }
      await sleep(restartDelayMs);
    }
  }
}
