import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createUuidV7Source, typeIdFromUuid } from "@bursar/domain";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { RailPart } from "./app/rails/rail.js";
import { assertAssetsKept, type ExplainMissingAsset } from "./compose/assert-assets-kept.js";
import { compose, type Parts } from "./compose/compose.js";
import { stateMetrics } from "./compose/compose-metrics.js";
import { composeTracing, type TracingParts } from "./compose/compose-tracing.js";
import { webhookOptions } from "./compose/compose-webhooks.js";
import { followChanges, migrateAndLog } from "./compose/follow-changes.js";
import { checkProxySettings, publicUrlOf } from "./compose/public-address.js";
import { createServiceClock, measureAtStart } from "./compose/service-clock.js";
import type { Settings } from "./config/settings.js";
import type { Keyring } from "./credentials/keyring.js";
import { createSealing } from "./credentials/sealing.js";
import { startEmbeddedPostgres } from "./embedded/embedded-postgres.js";
import { listRoutes } from "./http/api.js";
import { createEdge } from "./http/edge.js";
import { startMetricsServer } from "./http/plugins/metrics-server.js";
import { explainListenError, findPort, listen } from "./listen.js";
import { type DatabaseClock, type LocalClocks, machineClocks } from "./runtime/database/database-clock.js";
import { createWakeUps } from "./runtime/loops/wake-ups.js";
import { createReadiness, findFaults, type ReadinessFault } from "./runtime/readiness.js";
import { locationOf } from "./store/core/connection/database-url.js";
import { createNotifyChannelOpener } from "./store/core/connection/notify-channel.js";
import { assertServes, withAvailableDatabase } from "./store/core/connection/wait-for-database.js";
import { type Database, isDatabaseUnavailable, openDatabase } from "./store/core/database.js";
import { checkDatabaseSettings } from "./store/core/schema/check-database-settings.js";
import { findOwningRole } from "./store/core/schema/database-roles.js";
import { readMigrations } from "./store/core/schema/migrations.js";

/** A running service. */
export interface Service {
  /** The address that it listens on. */
  url: string;
  /** The location of the data, for display. */
  dataLocation: string;
  /** Reports that the service is not ready, and resolves after the drain delay. Until then all requests are served. */
  drain: () => Promise<void>;
  stop: () => Promise<void>;
}

export interface ServiceOptions {
  settings: Settings;
  log: Logger;
  /** In the sandbox, webhook receivers may run on the same machine. */
  isSandbox: boolean;
  /** Returns the master keys; called after the data folder was created. */
  keyring: (dataDir: string) => Keyring;
  /** Fills the database before the service is ready; can be called again after a failure. */
  seed?: (url: string, parts: Parts) => Promise<void>;
  /** Rails beside the book and the configured chains. */
  rails?: readonly RailPart[];
  /** Starts what runs beside the sandbox, when its data folder is locked; returns the settings that follow from it. */
  companions?: (log: Logger, onLost: (error: Error) => void) => Promise<Companions | undefined>;
  /** Explains in the sandbox why an asset of its chain is not configured. */
  explainMissingAsset?: ExplainMissingAsset;
  /** Opens the connection pool; replaced in tests. */
  openDatabase?: typeof openDatabase;
  /** The clocks of this machine; replaced in tests. */
  clocks?: LocalClocks;
  /** Called when the service cannot continue. */
  onFailure: (error: Error) => void;
  /** Aborts a start that is still waiting for its database. */
  signal: AbortSignal;
}

interface Companions {
  settings: Partial<Settings>;
  stop: () => Promise<void>;
}

/** The part of the shutdown timeout that is reserved for closing the stores. */
const reservedForStoresMs = 4000;

export async function startService(options: ServiceOptions): Promise<Service> {
  const { log, signal } = options;
  checkProxySettings(options.settings, log);
  // Checked first, because a port in use is the most likely failure and the database takes seconds to start.
  let settings: Settings = { ...options.settings, port: await findPort(options.settings) };
  const closers: (() => Promise<void>)[] = [];
  /** Stops all parts, even if one fails: otherwise the rest would keep running. */
  const stop = async () => {
    const errors: unknown[] = [];
    for (const close of closers.splice(0).reverse())
      await close().catch((error: unknown) => {
        errors.push(error);
        log.error({ err: error }, "a part could not be stopped");
      });
    if (errors.length > 0) throw errors[0];
  };
  try {
    const source = await provideDatabase(settings, log, options.onFailure);
    closers.push(source.stop);
    const companions = await options.companions?.(log, options.onFailure);
    if (companions !== undefined) closers.push(companions.stop);
    settings = { ...settings, ...companions?.settings };
    const database = (options.openDatabase ?? openDatabase)({
      url: source.url,
      schema: settings.database_schema,
      connectionsMax: settings.database_connections,
      onRefusedServer: (server, { facts, message }) => log.error({ server, ...facts }, message),
    });
    closers.push(database.close);
    const clock = createServiceClock(database, options.clocks ?? machineClocks, log);
    closers.push(async () => clock.stop());
    const publicUrl = publicUrlOf(settings);
    const wakeUps = createWakeUps({
      openChannel: createNotifyChannelOpener(source.url, database.identity),
      processId: randomUUID(),
    });
    closers.push(wakeUps.close);
    const tracing = composeTracing(settings, log, clock.now);
    if (tracing !== undefined) closers.push(tracing.close);
    let readinessFaults = (): readonly ReadinessFault[] => [];
    const parts = compose({
      database,
      wakeUps,
      sealing: createSealing(options.keyring(settings.data_dir)),
      settings,
      publicUrl,
      webhooks: webhookOptions(settings, options.isSandbox),
      rails: options.rails ?? [],
      // What runs beside the sandbox starts with its first use.
      chainsOnDemand: companions !== undefined,
      log,
      tracer: tracing?.tracer,
      newUuid: createUuidV7Source({ now: clock.measuredNow, randomBytes }),
      now: clock.now,
      isClockTrusted: () => clock.fault() === undefined,
      readinessFaults: () => readinessFaults(),
    });
    closers.push(parts.close);
    const edge = await buildEdge(settings, log, database, { ...parts, tracing }, publicUrl, clock);
    const { app, readiness } = edge;
    readinessFaults = () => findFaults(readiness);
    const edgeTimeoutMs = Math.max(settings["limits.shutdown_timeout_ms"] - reservedForStoresMs, 500);
    // Closed together, because the edge waits for its last connection, and a stream is one.
    closers.push(async () => {
      parts.endWaiting();
      await Promise.all([parts.stream.close(edgeTimeoutMs), closeEdge(app, edgeTimeoutMs)]);
    });
    closers.push(async () => readiness.set("stopping"));
    const url = await listen(app, settings);
    if (settings.metrics_port !== undefined)
      closers.push(await serveMetrics(app, settings, settings.metrics_port));

    // Read once: the files can be replaced by those of another version while this one runs.
    const migrations = readMigrations();
    let constraintsCount = 0;
    await withAvailableDatabase(database, log, signal, async () => {
      await measureAtStart(clock);
      await checkDatabaseSettings(database);
      constraintsCount = await migrateAndLog(database, migrations, log);
      // The epoch is stored in a table.
      await database.identify();
      if (!options.isSandbox) await warnOfOwnedTables(database, log);
      await assertAssetsKept(database, settings.assets, options.explainMissingAsset);
      await parts.prepare();
      await parts.probeChains();
      await options.seed?.(url, parts);
    });
    closers.push(followChanges({ ...options, database, parts, readiness, migrations, constraintsCount }));
    parts.engine.start();
    parts.changeRequestWorker.start();
    parts.sweeper.start();
    for (const driver of parts.railDrivers) driver.start();
    parts.startChains();
    parts.load.start();
    parts.markets.start();
    parts.sender.start();
    clock.start();
    readiness.set("ready");
    log.info({ url }, "ready");
    const drain = async () => {
      readiness.set("stopping");
      await sleep(settings["limits.drain_delay_ms"]);
    };
    return { url, dataLocation: source.location, drain, stop };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}

/** A service that owns its tables could also change the audit log, as could anyone who breaks into it. */
async function warnOfOwnedTables(database: Database, log: Logger): Promise<void> {
  const role = await findOwningRole(database);
  if (role !== undefined)
    log.warn(
      { role },
      "The service's database role owns its tables, so it could change the audit log. `bursar database roles` prints the SQL for a role that cannot.",
    );
}

/** By the clock of this machine: requests arrive before the database's clock is known, and ids never go back. */
const newRequestUuid = createUuidV7Source({ now: Date.now, randomBytes });
const newRequestId = () => typeIdFromUuid("req", newRequestUuid());

interface DatabaseSource {
  url: string;
  location: string;
  stop: () => Promise<void>;
}

async function provideDatabase(
  settings: Settings,
  log: Logger,
  onLost: (error: Error) => void,
): Promise<DatabaseSource> {
  if (settings.database_url !== undefined) {
    const url = settings.database_url;
    return { url, location: locationOf(url), stop: async () => undefined };
  }
  const embedded = await startEmbeddedPostgres({ dataDir: settings.data_dir, log, onLost });
  return { url: embedded.url, location: embedded.dir, stop: embedded.stop };
}

async function buildEdge(
  settings: Settings,
  log: Logger,
  database: Database,
  parts: Parts & { tracing: TracingParts | undefined },
  publicUrl: string,
  clock: DatabaseClock,
) {
  const readiness = createReadiness({
    ping: () => assertServes(database),
    clockFault: clock.fault,
    checkChains: parts.checkChains,
    findHaltedMarkets: parts.markets.findHalted,
  });
  const app = await createEdge(
    {
      log,
      readiness,
      guard: parts.guard,
      newRequestId,
      isUnavailable: isDatabaseUnavailable,
      metricsToken: settings.metrics_token,
      // A public URL implies a proxy, which makes every caller appear to be on this machine.
      isMetricsLocalOpen: settings.public_url === undefined,
      metrics: [
        ...parts.metrics,
        ...clock.metrics,
        ...stateMetrics(readiness),
        ...(parts.tracing?.metrics ?? []),
      ],
      tracer: parts.tracing?.tracer,
      trustedProxies: settings.trusted_proxies,
      proxyProtocol: settings.proxy_protocol === "true",
      securityTxt: { contact: settings.security_contact, expires: settings.security_expires },
      corsOrigins: settings.cors_origins,
      now: clock.now,
      limits: {
        bodyBytes: settings["limits.body_bytes"],
        headerBytes: settings["limits.header_bytes"],
        jsonDepth: settings["limits.json_depth"],
        headersTimeoutMs: settings["limits.headers_timeout_ms"],
        requestTimeoutMs: settings["limits.request_timeout_ms"],
        requestsPerClient: settings["limits.requests_per_client"],
        connectionsPerClient: settings["limits.connections_per_client"],
        heavyRequestsPerTenant: settings["limits.heavy_requests_per_tenant"],
        databaseConnections: settings.database_connections,
        idleTimeoutMs: settings["limits.idle_timeout_ms"],
      },
    },
    listRoutes(parts.useCases, publicUrl),
  );
  return { app, readiness };
}

/** Stops accepting connections, waits for requests in flight, and closes the rest after the timeout. */
async function closeEdge(app: FastifyInstance, timeoutMs: number): Promise<void> {
  const closed = app.close().then(() => true);
  const inTime = await Promise.race([closed, sleep(timeoutMs, false, { ref: false })]);
  if (!inTime) app.server.closeAllConnections();
  await closed;
}

/** Returns what stops it. */
async function serveMetrics(app: FastifyInstance, { metrics_host: host }: Settings, port: number) {
  try {
    const server = await startMetricsServer(app, { host, port });
    return async () => {
      server.close();
      server.closeAllConnections();
    };
  } catch (error) {
    throw explainListenError(error, host, port);
  }
}
