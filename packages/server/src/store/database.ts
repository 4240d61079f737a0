import postgres from "postgres";

/** The pool of connections to PostgreSQL: tagged SQL, pipelined, reconnecting by itself. */
export type Database = postgres.Sql;

/** The pool, or a transaction or session of it. */
export type Queryable = postgres.ISql;

export interface DatabaseOptions {
  url: string;
  connectionsMax: number;
  onNotice?: (message: string) => void;
}

const connectTimeoutSeconds = 5;
const reconnectDelayMaxSeconds = 2;

export function openDatabase({ url, connectionsMax, onNotice }: DatabaseOptions): Database {
  return postgres(url, {
    max: connectionsMax,
    connect_timeout: connectTimeoutSeconds,
    backoff: (attempt: number) => Math.min(0.1 * 2 ** attempt, reconnectDelayMaxSeconds),
    connection: { application_name: "bursar" },
    onnotice: (notice) => onNotice?.(notice["message"] ?? ""),
  });
}

/** Codes of Node's sockets and of postgres.js for a connection that cannot be had or was lost. */
const connectionFaults = new Set([
  "CONNECT_TIMEOUT",
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECTION_ENDED",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);

/** SQLSTATEs that say the server is not there: shutting down, starting up, crashed, or out of connections. */
const serverFaults = new Set(["57P01", "57P02", "57P03", "53300", "25006"]);

/** Whether an error means that the database is away, as opposed to that it refused a statement. */
export function isDatabaseAway(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== "string") return false;
  // Class 08 is "connection exception".
  return connectionFaults.has(code) || serverFaults.has(code) || /^08[0-9A-Z]{3}$/.test(code);
}
