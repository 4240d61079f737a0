import type { Socket } from "node:net";
import pg from "pg";
import { OperatorError } from "../../../operator-error.js";
import { probeServers, type ServerTimeline } from "../identity/probe-servers.js";
import { readDatabaseUrl } from "./database-url.js";

/**
 * Connects to the servers of a database URL. It stays with the one that worked last until a connection to it fails, and then tries the
 * others in turn. While no connection is open, it looks at all of them first.
 */
export interface Connector {
  /** The driver's client, which connects to the current server whatever its configuration says. */
  Client: typeof pg.Client;
  serverCount: number;
  /** Undefined if the URL does not say it. */
  connectTimeoutMs: number | undefined;
  /** Which server is the current one, as a number that changes when a connection to it fails. */
  current: () => number;
  /**
   * Looks at all servers at once and makes the best one the current one: of those that take writes, the one on the highest timeline, because
   * an old primary that has come back takes writes too. Servers of the cluster that the process knows are preferred. If none is found, the
   * current one stays. Does nothing if there is one server. Returns the chosen one.
   */
  choose: (
    isAllowed: (server: ServerTimeline) => boolean,
    known?: { cluster?: string | undefined },
  ) => Promise<ServerTimeline | undefined>;
  /** The host and the port that a client was made for. */
  nameOf: (client: pg.ClientBase) => string;
  /** Makes the next server the current one, because this one cannot be used. */
  passOver: (client: pg.ClientBase) => void;
  /** Rejects if the URL requires a server that takes writes, and this one takes none. The next server is then the current one. */
  assertTakesWrites: (client: pg.ClientBase) => Promise<void>;
}

type ConnectCallback = (error: Error | null, client: pg.Client) => void;

/** What the types of the driver do not show. */
interface DriverClient {
  ssl: unknown;
  sslNegotiation: "postgres" | "direct";
  connection: { stream: Socket };
}

/** The answer of a server without TLS to a request for it. */
const noTls = "N".charCodeAt(0);

export function createConnector(url: string): Connector {
  const { servers, mustTakeWrites, connectTimeoutMs, sslMode } = readDatabaseUrl(url);
  let current = 0;
  const serverOf = new WeakMap<object, number>();
  /** Connections that fail together move on by one server, not by one each. */
  const moveOn = (client: object) => {
    if (serverOf.get(client) === current) current = (current + 1) % servers.length;
  };
  let choosing: Promise<ServerTimeline | undefined> | undefined;

  async function choose(...[isAllowed, known]: Parameters<Connector["choose"]>) {
    const found = await probeServers(servers.map(({ url }) => url));
    const usable = found.flatMap((server, index) =>
      server !== undefined && isAllowed(server) ? [{ ...server, index }] : [],
    );
    // Servers of another cluster cannot be compared; then the order of the URL decides.
    const { cluster: chosen } = usable.find(({ cluster }) => cluster === known?.cluster) ?? usable[0] ?? {};
    const [best, ...others] = usable.filter(({ cluster }) => cluster === chosen);
    if (best === undefined) return undefined;
    const latest = others.reduce(
      (one, other) => ((other.timeline ?? "") > (one.timeline ?? "") ? other : one),
      best,
    );
    current = latest.index;
    return latest;
  }

  class RoutedClient extends pg.Client {
    readonly #serverName = servers[current]?.name;
    #isTlsRefused = false;

    constructor(config?: string | pg.ClientConfig) {
      super({ ...(config as pg.ClientConfig), connectionString: servers[current]?.url });
      serverOf.set(this, current);
      // Without a listener, this event ends the process. The pool adds its own when the connection is made, but the server can end a
      // connection in the same packet in which it says that it is ready. The first statement then fails.
      this.on("error", () => undefined);
      const { ssl, sslNegotiation, connection } = this as unknown as DriverClient;
      if (ssl !== false && sslNegotiation === "postgres")
        connection.stream.once("data", (bytes) => {
          this.#isTlsRefused = bytes.length === 1 && bytes[0] === noTls;
        });
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: ConnectCallback): void;
    override connect(callback?: ConnectCallback): Promise<pg.Client> | undefined {
      const connecting = super.connect().catch((error: unknown) => {
        moveOn(this);
        throw this.#isTlsRefused ? this.#missingTls(error) : error;
      });
      if (callback === undefined) return connecting;
      connecting.then(
        () => callback(null, this),
        (error: Error) => callback(error, this),
      );
      return undefined;
    }

    #missingTls(cause: unknown): OperatorError {
      const asked =
        sslMode === undefined ? "database_url requires TLS" : `database_url has sslmode=${sslMode}`;
      return new OperatorError(
        `${asked}, but the server at ${this.#serverName} does not offer TLS. Set ssl = on in its postgresql.conf, or use sslmode=disable on a network that you trust.`,
        { cause },
      );
    }
  }

  return {
    Client: RoutedClient as unknown as typeof pg.Client,
    serverCount: servers.length,
    connectTimeoutMs,
    current: () => current,
    choose: async (isAllowed, known) => {
      if (servers.length === 1) return undefined;
      choosing ??= choose(isAllowed, known).finally(() => {
        choosing = undefined;
      });
      return await choosing;
    },
    nameOf: (client) => servers[serverOf.get(client) ?? 0]?.name ?? "",
    passOver: moveOn,
    assertTakesWrites: async (client) => {
      if (!mustTakeWrites) return;
      const { rows } = await client.query("SELECT current_setting('transaction_read_only') AS setting");
      if (rows[0]?.setting === "off") return;
      moveOn(client);
      throw Object.assign(new Error("the database is read-only"), { code: "25006" });
    },
  };
}
