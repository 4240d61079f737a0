import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../../src/embedded/embedded-postgres.js";
import { type Database, openDatabase } from "../../../src/store/core/database.js";
import { createTcpProxy } from "../http/tcp-proxy.js";
import { createTemporaryFolder } from "../temporary-folder.js";
import type { TestDatabase } from "./test-database.js";

/** A PostgreSQL whose data folder can be copied and put back while a service uses it: the address stays the same. */
export interface RewindablePostgres {
  url: string;
  /** Stops the server, and copies its data folder if asked to; `start` makes it available again. */
  stop: () => Promise<void>;
  start: () => Promise<void>;
  /** Keeps a copy of the data folder, with a restart. */
  keep: () => Promise<void>;
  /**
   * Puts the kept copy in the place of the data folder, with a restart. If it is `worked on`, the copy is started elsewhere before, as an
   * operator does to look at it, and its log is then further than that of the data which it replaces.
   */
  rewind: (how?: "as it is" | "worked on") => Promise<void>;
  /** For the harness of the service. */
  database: TestDatabase;
  close: () => Promise<void>;
}

/** More than a test writes. */
const logFiles = 6;

export async function startRewindablePostgres(name: string): Promise<RewindablePostgres> {
  const folder = createTemporaryFolder(name);
  const kept = join(folder, "kept");
  const log = pino({ level: "silent" });
  const run = () => startEmbeddedPostgres({ dataDir: folder, log, onLost: () => undefined });
  let postgres: EmbeddedPostgres = await run();
  const target = { host: "127.0.0.1", port: Number(new URL(postgres.url).port) };
  const proxy = await createTcpProxy(target);
  const proxied = new URL(postgres.url);
  proxied.port = String(proxy.port);

  async function stop(): Promise<void> {
    await proxy.cut();
    await postgres.stop();
  }

  /** While nobody else can connect. Each switch begins a new file of the log. */
  async function workOn(): Promise<void> {
    postgres = await run();
    const alone = openDatabase({ url: postgres.url, connectionsMax: 1 });
    for (let n = 0; n < logFiles; n++)
      await alone.session((session) => session.script("SELECT txid_current(), pg_switch_wal()"));
    await alone.close();
    await postgres.stop();
  }

  async function start(): Promise<void> {
    postgres = await run();
    target.port = Number(new URL(postgres.url).port);
    await proxy.restore();
  }

  const database: Database = openDatabase({ url: proxied.href, connectionsMax: 2 });
  return {
    url: proxied.href,
    stop,
    start,
    keep: async () => {
      await stop();
      rmSync(kept, { recursive: true, force: true });
      execFileSync("cp", ["-a", postgres.dir, kept]);
      await start();
    },
    rewind: async (how) => {
      await stop();
      rmSync(postgres.dir, { recursive: true });
      execFileSync("cp", ["-a", kept, postgres.dir]);
      if (how === "worked on") await workOn();
      await start();
    },
    database: {
      ...database,
      url: proxied.href,
      run: (script) => database.session((session) => session.script(script)),
      drop: database.close,
    },
    close: async () => {
      await database.close();
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
