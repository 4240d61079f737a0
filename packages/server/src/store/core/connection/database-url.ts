import { OperatorError } from "../../../operator-error.js";

/** What the URL of a database says: the servers to try, in order, and what is required of them. */
export interface DatabaseTarget {
  servers: readonly DatabaseServer[];
  /** Whether a server that takes no writes, as a standby does, is passed over. */
  mustTakeWrites: boolean;
  /** Undefined if the URL does not say it. */
  connectTimeoutMs: number | undefined;
  /** The value of `sslmode`, for messages. */
  sslMode: string | undefined;
}

interface DatabaseServer {
  /** Host and port, for messages. */
  name: string;
  /** The URL with this server only, and only with parameters that the driver understands. */
  url: string;
}

/**
 * The parameters of libpq that take effect, as they are documented there. The driver ignores those that it does not know, and with some
 * that it does know a URL could remove our timeouts, so every other parameter is refused by name.
 */
const driverParameters = new Set([
  "user",
  "password",
  "application_name",
  "options",
  "ssl",
  "sslmode",
  "sslcert",
  "sslkey",
  "sslrootcert",
  "sslnegotiation",
  "uselibpqcompat",
]);
const ownParameters = new Set(["host", "port", "target_session_attrs", "connect_timeout"]);

const sslModes = ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"];
/** With several servers, all of these mean the first one that takes writes: Bursar can use no other. */
const sessionAttributes = ["any", "read-write", "primary"];
const connectTimeoutMaxSeconds = 60;
const serversMax = 10;
const portDefault = "5432";

export function readDatabaseUrl(url: string): DatabaseTarget {
  const parts = /^(postgres(?:ql)?):\/\/(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(url);
  if (parts === null) throw new OperatorError("database_url is not the URL of a PostgreSQL database.");
  const [, scheme, credentials, authority = "", path = "", query = ""] = parts;
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys()) assertSupported(name);
  const sslMode = oneOf(parameters, "sslmode", sslModes);
  const attributes = oneOf(parameters, "target_session_attrs", sessionAttributes);
  const connectTimeoutMs = readConnectTimeout(parameters);
  const hosts = readHosts(authority, parameters);
  for (const name of ownParameters) parameters.delete(name);
  const prefix = `${scheme}://${credentials === undefined ? "" : `${credentials}@`}server${path}`;
  return {
    servers: hosts.map(({ host, port }) => ({
      name: `${host}:${port}`,
      url: `${prefix}?${new URLSearchParams([...parameters, ["host", host], ["port", port]])}`,
    })),
    mustTakeWrites: hosts.length > 1 || (attributes !== undefined && attributes !== "any"),
    connectTimeoutMs,
    sslMode,
  };
}

/** Where the data is, for display: the hosts and the database, without credentials and parameters. */
export function locationOf(url: string): string {
  const [, authority = "", path = ""] = /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#@]*)(\/[^?#]*)?/.exec(url) ?? [];
  return `${authority}${path}`;
}

function assertSupported(name: string): void {
  if (driverParameters.has(name) || ownParameters.has(name)) return;
  throw new OperatorError(
    `database_url has the parameter ${name}, which Bursar does not support. Remove it; supported are ${[...ownParameters, ...driverParameters].join(", ")}.`,
  );
}

function oneOf(parameters: URLSearchParams, name: string, allowed: readonly string[]): string | undefined {
  const value = parameters.get(name) ?? undefined;
  if (value === undefined || allowed.includes(value)) return value;
  throw new OperatorError(
    `database_url has ${name}=${value}, which Bursar does not support: it must be one of ${allowed.join(", ")}.`,
  );
}

function readConnectTimeout(parameters: URLSearchParams): number | undefined {
  const value = parameters.get("connect_timeout");
  if (value === null) return undefined;
  const seconds = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (seconds >= 1 && seconds <= connectTimeoutMaxSeconds) return seconds * 1000;
  throw new OperatorError(
    `database_url has connect_timeout=${value}: it must be a number of seconds from 1 to ${connectTimeoutMaxSeconds}.`,
  );
}

/** The parameters `host` and `port` take precedence over the authority, as in libpq; each can be a list. */
function readHosts(authority: string, parameters: URLSearchParams): { host: string; port: string }[] {
  const written = authority.split(",").map((entry) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d*))?$/.exec(entry) ?? [];
    return { host: decodeURIComponent(bracketed ?? plain ?? ""), port: port ?? "" };
  });
  const hosts = parameters.get("host")?.split(",") ?? written.map(({ host }) => host);
  const ports = parameters.get("port")?.split(",") ?? written.map(({ port }) => port);
  if (hosts.length > serversMax || hosts.includes(""))
    throw new OperatorError(`database_url must name from one to ${serversMax} hosts, separated by commas.`);
  if (ports.length !== 1 && ports.length !== hosts.length)
    throw new OperatorError(`database_url names ${hosts.length} hosts and ${ports.length} ports.`);
  return hosts.map((host, index) => {
    const port = (ports.length === 1 ? ports[0] : ports[index]) || portDefault;
    if (/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535) return { host, port };
    throw new OperatorError(`database_url has the port ${port}: it must be a number from 1 to 65535.`);
  });
}
