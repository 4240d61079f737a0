import { chownSync, copyFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../src/embedded/free-port.js";
import { openDatabase } from "../../../src/store/core/database.js";
import { Statement } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { createPostgresServer, type PostgresServer, user } from "./postgres-server.js";

/** A primary and a standby with streaming replication, which change places. */
export interface PostgresPair {
  /** Names both servers. */
  url: string;
  primary: () => PostgresServer;
  /** After a failover, the old primary, which is not running. */
  standby: () => PostgresServer;
  /** Makes every commit wait for the standby from now on, or none. */
  setSynchronous: (isSynchronous: boolean) => Promise<void>;
  /** Cuts the standby off: what is committed from now on is lost if it takes over. */
  holdBack: () => Promise<void>;
  /** Kills the primary and lets the standby take over. */
  failOver: () => Promise<void>;
  /** Sets the killed server up again, as the standby of the other. */
  rebuild: () => Promise<void>;
  stop: () => Promise<void>;
}

export async function startPostgresPair(folder: string): Promise<PostgresPair> {
  const ports = [await freePort(), await freePort()];
  let [primary, standby] = ports.map((port, index) =>
    createPostgresServer(join(folder, `postgres-${index}`), port),
  ) as [PostgresServer, PostgresServer];
  primary.initialise();
  primary.configure({});
  await primary.start();

  /** A standby is behind nothing once it has replayed what the primary has written so far. */
  async function waitForStandby(isExpected: (state: { isSync: boolean }) => boolean): Promise<void> {
    await eventually(
      () =>
        primary.ask<{ isSync: boolean }>(`
          SELECT sync_state = 'sync' AS "isSync" FROM pg_stat_replication WHERE state = 'streaming'`),
      ([row]) => row !== undefined && isExpected(row),
    );
  }

  async function setSynchronous(isSynchronous: boolean): Promise<void> {
    await primary.ask(`ALTER SYSTEM SET synchronous_standby_names = '${isSynchronous ? "*" : ""}'`);
    await primary.ask("SELECT pg_reload_conf()");
    if (isSynchronous) await waitForStandby(({ isSync }) => isSync);
  }

  async function rebuild(): Promise<void> {
    await standby.kill();
    rmSync(standby.dir, { recursive: true, force: true });
    await copyServer(primary, standby);
    await standby.start();
    await waitForStandby(() => true);
  }

  await rebuild();
  return {
    url: `postgres://${user}@${ports.map((port) => `127.0.0.1:${port}`).join(",")}/postgres`,
    primary: () => primary,
    standby: () => standby,
    setSynchronous,
    holdBack: async () => {
      await standby.ask("ALTER SYSTEM SET primary_conninfo = ''");
      await standby.ask("SELECT pg_reload_conf()");
      await eventually(
        () => standby.ask("SELECT FROM pg_stat_wal_receiver"),
        (rows) => rows.length === 0,
      );
    },
    failOver: async () => {
      await primary.kill();
      [primary, standby] = [standby, primary];
      await primary.ask("SELECT pg_promote(true, 60)");
      // A primary without a standby would otherwise wait for one at every commit.
      await setSynchronous(false);
    },
    rebuild,
    stop: async () => {
      await primary.kill();
      await standby.kill();
    },
  };
}

/** Folders whose content belongs to one run of a server, or comes over the replication. */
const emptyFolders = new Set([
  "pg_wal",
  "pg_replslot",
  "pg_stat_tmp",
  "pg_notify",
  "pg_subtrans",
  "pg_dynshmem",
]);
const leftOut = new Set([
  "postmaster.pid",
  "postmaster.opts",
  "standby.signal",
  "backup_label",
  "postgresql.auto.conf",
]);

/** A base backup with PostgreSQL's low-level functions: `pg_basebackup` is not part of the embedded PostgreSQL. */
async function copyServer(from: PostgresServer, to: PostgresServer): Promise<void> {
  const database = openDatabase({ url: from.url, connectionsMax: 1, statementTimeoutMs: 120_000 });
  try {
    await database.session(async (session) => {
      await session.query(new Statement("SELECT pg_backup_start('standby', true)", []));
      copyFolder(from.dir, to.dir, true);
      const [stopped] = await session.query<{ labelfile: string }>(
        new Statement("SELECT labelfile FROM pg_backup_stop(false)", []),
      );
      writeFileSync(join(to.dir, "backup_label"), stopped?.labelfile ?? "");
    });
  } finally {
    await database.close();
  }
  writeFileSync(join(to.dir, "standby.signal"), "");
  writeFileSync(join(to.dir, "postgresql.auto.conf"), "");
  to.configure({ primary_conninfo: `host=127.0.0.1 port=${from.port} user=${user}` });
  const { uid, gid } = statSync(from.dir);
  for (const name of ["backup_label", "standby.signal", "postgresql.auto.conf"])
    chownSync(join(to.dir, name), uid, gid);
}

function copyFolder(from: string, to: string, isTop: boolean): void {
  const { uid, gid, mode } = statSync(from);
  mkdirSync(to, { mode: mode & 0o777 });
  chownSync(to, uid, gid);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (isTop && leftOut.has(entry.name)) continue;
    if (!entry.isDirectory()) copyIfPresent(source, target, uid, gid);
    else if (isTop && emptyFolders.has(entry.name)) copyFolders(source, target);
    else copyFolder(source, target, false);
  }
}

/** The folders without their files. */
function copyFolders(from: string, to: string): void {
  const { uid, gid, mode } = statSync(from);
  mkdirSync(to, { mode: mode & 0o777 });
  chownSync(to, uid, gid);
  for (const entry of readdirSync(from, { withFileTypes: true }))
    if (entry.isDirectory()) copyFolders(join(from, entry.name), join(to, entry.name));
}

/** A file can be removed by the running server at any time. */
function copyIfPresent(from: string, to: string, uid: number, gid: number): void {
  try {
    copyFileSync(from, to);
    chownSync(to, uid, gid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
