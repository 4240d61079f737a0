import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import pg from "pg";
import { type CommitWitnesses, createCommitWitnesses } from "../../../runtime/database/commit-witnesses.js";
import {
  createDatabaseIdentity,
  isOlderTimeline,
  type ObservedIdentity,
} from "../../../runtime/database/database-identity.js";
import { explainConnection } from "../database-unavailable-error.js";
import { identifyDatabase } from "../identity/identify-database.js";
import type { RunText } from "../identity/read-server.js";
import { RefusedServerError } from "../identity/refused-server.js";
import { createConnector } from "./connector.js";
import { checkClient, prepareSession } from "./session-settings.js";

/** The pool of connections, each of which is checked and prepared before it is used. */
export interface Connections {
  pool: pg.Pool;
  identity: ObservedIdentity;
  witnesses: CommitWitnesses;
  /** Gives a connection to the database that the process knows. */
  connect: () => Promise<pg.PoolClient>;
  /** Whether the URL names more than one server. */
  hasOthers: boolean;
  /**
   * Looks now and then whether another server has taken over although the connections to this one are open: nobody has stopped the old
   * primary, or only some processes can reach it. Does nothing if the URL names one server.
   */
  lookForLaterServer: () => void;
}

export interface ConnectionsOptions {
  url: string;
  connectionsMax: number;
  schema: string;
  statementTimeoutMs: number;
  checkClientEveryMs: number | undefined;
  connectTimeoutMs: number | undefined;
  onRefusedServer: ((name: string, error: RefusedServerError) => void) | undefined;
}

const connectTimeoutDefaultMs = 5000;
/** The server gives up earlier: a statement that no caller waits for would otherwise continue, with its connection and its locks. */
const serverGivesUpMs = 1000;
const keepAliveDelayMs = 10_000;
const refusedServerEveryMs = 60_000;
const laterServerEveryMs = 5000;

export function createConnections(options: ConnectionsOptions): Connections {
  const connector = createConnector(options.url);
  const hasOthers = connector.serverCount > 1;
  const identity = createDatabaseIdentity();
  const witnesses = createCommitWitnesses(identity.generation);
  identity.subscribe(({ isNewEpoch }) => {
    if (isNewEpoch) witnesses.beginEpoch();
  });
  const connectTimeoutMs = options.connectTimeoutMs ?? connector.connectTimeoutMs ?? connectTimeoutDefaultMs;
  /** What each connection was made to. */
  const generationOf = new WeakMap<pg.ClientBase, number>();
  /** The connections that were identified and are open. */
  const identified = new Set<pg.ClientBase>();

  const pool = new pg.Pool({
    Client: connector.Client,
    max: options.connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: "bursar",
    onConnect: async (client) => {
      await connector.assertTakesWrites(client);
      // Sent together, so that the check costs no round trip of its own.
      const prepared = prepareSession(client, {
        statementTimeoutMs: options.statementTimeoutMs - serverGivesUpMs,
        schema: options.schema,
        timeoutMs: connectTimeoutMs,
      });
      const [, generation] = await Promise.all([prepared, identify(client)]);
      if (generation === undefined) throw new Error("the database changed while a connection was made");
      if (options.checkClientEveryMs !== undefined) await checkClient(client, options.checkClientEveryMs);
      failUnreplicated(client);
      generationOf.set(client, generation);
      identified.add(client);
      client.once("end", () => {
        identified.delete(client);
        identity.doubt();
      });
    },
    // Statements are sent without waiting for the answers to those before; their order stays.
    pipeline: true,
    keepAlive: true,
    // So that a connection to a server that was replaced is noticed while it waits for an answer.
    keepAliveInitialDelayMillis: keepAliveDelayMs,
  });
  // The loss of a connection is reported twice: to the caller of a statement, and by this event, which ends the process if it has no
  // listener. The caller gets the error; the pool replaces the connection.
  pool.on("error", () => undefined);

  async function identify(client: pg.ClientBase): Promise<number | undefined> {
    const run: RunText = async (text, values) => {
      const config = { text, values: values && [...values], query_timeout: connectTimeoutMs };
      return (await client.query(config as pg.QueryConfig)).rows;
    };
    try {
      return await identifyDatabase(run, { identity, witnesses, isAlone: identified.size === 0, hasOthers });
    } catch (error) {
      if (error instanceof RefusedServerError) passOver(client, error);
      throw error;
    }
  }

  /** When each reason was last reported. */
  const reportedAtMs = new Map<string, number>();
  function passOver(client: pg.ClientBase, error: RefusedServerError): void {
    connector.passOver(client);
    const sinceMs = performance.now() - (reportedAtMs.get(error.message) ?? Number.NEGATIVE_INFINITY);
    if (sinceMs < refusedServerEveryMs) return;
    reportedAtMs.set(error.message, performance.now());
    options.onRefusedServer?.(connector.nameOf(client), error);
  }

  /** Tries each server once; the pool itself connects to the current one only. Connections to an earlier database are closed. */
  async function connect(): Promise<pg.PoolClient> {
    if (identified.size === 0) {
      const known = identity.known();
      await connector.choose((server) => !isOlderTimeline(server, known), known);
    }
    for (let triesLeft = connector.serverCount; ; triesLeft -= 1) {
      const server = connector.current();
      try {
        for (;;) {
          const client = await pool.connect();
          if (generationOf.get(client) === identity.generation()) return client;
          client.release(true);
        }
      } catch (error) {
        if (triesLeft === 1 || connector.current() === server)
          return explainConnection(error, identity.server() !== undefined);
      }
    }
  }

  let lookedAtMs = performance.now();
  function lookForLaterServer(): void {
    const known = identity.known();
    const isDue = performance.now() - lookedAtMs >= laterServerEveryMs;
    if (!isDue || !hasOthers || known.timeline === undefined) return;
    lookedAtMs = performance.now();
    connector
      .choose((server) => isOlderTimeline({ cluster: known.cluster, timeline: known.timeline }, server))
      .then((later) => later && identity.leave(later))
      .catch(() => undefined);
  }

  return { pool, identity, witnesses, connect, hasOthers, lookForLaterServer };
}

/** What the types of the driver do not show. */
interface DriverClient {
  connection: EventEmitter & { stream: Socket };
}

/**
 * If somebody cancels the wait of a commit for its synchronous standby, PostgreSQL warns and then answers that it is committed, although
 * the standby does not have it. Such a commit has an unknown outcome, as if its answer had been lost: the connection fails before the
 * answer is read. The warning is recognised by the source file that it comes from, because its text is translated.
 */
function failUnreplicated(client: pg.ClientBase): void {
  client.on("notice", ({ file, message }) => {
    if (file !== "syncrep.c") return;
    const { connection } = client as unknown as DriverClient;
    connection.emit("error", new Error(`a commit is not replicated: ${message}`));
    connection.stream.destroy();
  });
}
