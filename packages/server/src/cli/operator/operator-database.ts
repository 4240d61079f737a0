import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createUuidV7Source } from "@bursar/domain";
import type { Parts } from "../../compose/compose.js";
import { type Config, loadConfig } from "../../config/load-config.js";
import { sandboxMarkets } from "../../config/market-list.js";
import { ConfigError } from "../../config/setting.js";
import type { Settings } from "../../config/settings.js";
import { readMasterKeys } from "../../credentials/master-key.js";
import { createSealing, type Sealing } from "../../credentials/sealing.js";
import { createLogger } from "../../log.js";
import { OperatorError } from "../../operator-error.js";
import {
  createDatabaseClock,
  describeReading,
  machineClocks,
  skewLimits,
} from "../../runtime/database/database-clock.js";
import { nodeTimers } from "../../runtime/loops/timers.js";
import { createWakeUps } from "../../runtime/loops/wake-ups.js";
import { createNotifyChannelOpener } from "../../store/core/connection/notify-channel.js";
import { type Database, openDatabase } from "../../store/core/database.js";
import { readDatabaseTime } from "../../store/core/database-time.js";
import { assertMigrated } from "../../store/core/schema/migrate.js";
import { readMigrations } from "../../store/core/schema/migrations.js";
import { printError } from "../print.js";
import { findSandboxChain, withSandboxChain } from "../sandbox/sandbox-chain.js";

/** An audit of the ledger reads all of it. */
const auditTimeoutMs = 24 * 3_600_000;
/** How soon the server ends the statement of a command that was cancelled. */
const checkClientEveryMs = 1000;

export interface OperatorTools {
  database: Database;
  sealing: Sealing;
  parts: Parts;
  newUuid: () => string;
  /** The database's time, whatever the clock of the operator's machine says. */
  now: () => number;
}

/**
 * Runs an operator command on the database that DATABASE_URL names, or on the database of the sandbox that runs from this folder.
 */
export async function withDatabase<T>(
  work: (tools: OperatorTools) => Promise<T>,
  prepare = (parts: Parts) => parts.prepareIntegrity(),
): Promise<T> {
  const values = loadOperatorSettings();
  const url = values.database_url ?? sandboxDatabaseUrl(values.data_dir);
  const database = openDatabase({
    url,
    schema: values.database_schema,
    connectionsMax: 2,
    statementTimeoutMs: auditTimeoutMs,
    checkClientEveryMs,
  });
  const wakeUps = createWakeUps({
    openChannel: createNotifyChannelOpener(url, database.identity),
    processId: randomUUID(),
  });
  const log = createLogger("error", process.stderr.isTTY === true);
  const clock = createDatabaseClock({
    ...machineClocks,
    readDatabaseTime: () => readDatabaseTime(database, machineClocks.monotonicMs),
    onReading: (reading) => {
      if (Math.abs(reading.skewMs) >= skewLimits.notReadyMs)
        printError(`Warning: ${describeReading(reading)}. The database's time is used.`);
    },
    onError: () => undefined,
    timers: nodeTimers,
  });
  const { now } = clock;
  const newUuid = createUuidV7Source({ now: clock.measuredNow, randomBytes });
  const sealing = createSealing(readMasterKeys(masterKeyPath(values)));
  // Loaded here, so that help and usage errors do not wait for the whole service to load.
  const { compose } = await import("../../compose/compose.js");
  const { webhookOptions } = await import("../../compose/compose-webhooks.js");
  const parts = compose({
    database,
    webhooks: webhookOptions(values, false),
    sealing,
    wakeUps,
    settings: values,
    publicUrl: "",
    log,
    newUuid,
    now,
    isClockTrusted: () => clock.fault() === undefined,
  });
  try {
    await assertMigrated(database, readMigrations());
    await clock.measure();
    await prepare(parts);
    return await work({ database: parts.database, sealing, parts, newUuid, now });
  } finally {
    await parts.close();
    await wakeUps.close();
    await database.close();
  }
}

/** On a sandbox, its markets, and its chain with the assets of the chain, are configured as they are in the sandbox. */
export function loadOperatorSettings(): Settings {
  const config = loadConfig(process.env);
  const chain = findSandboxChain(config);
  if (chain === undefined && config.values.database_url !== undefined) return config.values;
  const { values } = loadConfig(process.env, { markets: sandboxMarkets });
  return chain === undefined ? values : { ...values, ...withSandboxChain(values.assets, chain) };
}

export function masterKeyPath({ master_key_file, database_url, data_dir }: Config["values"]): string {
  if (master_key_file !== undefined) return master_key_file;
  const sandboxKey = join(data_dir, "master.key");
  if (database_url === undefined || existsSync(sandboxKey)) return sandboxKey;
  throw new ConfigError(
    "master_key_file (environment BURSAR_MASTER_KEY_FILE) is not set. Set it to the file with the service's master key.",
  );
}

/** The port is on the fourth line of PostgreSQL's lock file. */
export function sandboxDatabaseUrl(dataDir: string): string {
  try {
    const port = Number(readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[3]);
    const password = readFileSync(join(dataDir, "postgres.password"), "utf8").trim();
    return `postgres://bursar:${password}@127.0.0.1:${port}/postgres`;
  } catch (cause) {
    throw new OperatorError(
      `No sandbox is running on ${dataDir}. Start one with \`npm start\`, or set DATABASE_URL.`,
      { cause },
    );
  }
}
