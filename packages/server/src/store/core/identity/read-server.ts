import type { DatabaseReading, Epoch } from "../../../runtime/database/database-identity.js";

/** Runs one statement and returns its rows. */
export type RunText = (text: string, values?: readonly (string | null)[]) => Promise<unknown[]>;

/** What is behind a connection. */
export interface ServerRow {
  isStandby: boolean;
  /** When the server process was started, and the number of the database in it. */
  started: string;
  /** Null if the server does not show its control data. */
  system: string | null;
  /** Null on a standby too, as is the position. */
  timeline: string | null;
  position: string | null;
  /** The last epoch; null before the migrations. */
  number: string | null;
  id: string | null;
  /** The cluster and the timeline that it belongs to. Null if no server has been named for it. */
  epochSystem: string | null;
  epochTimeline: string | null;
  /** In microseconds since 1970. */
  epochStarted: string | null;
  /** The SQL transaction that has written the epoch's row; `VACUUM FULL` keeps it. */
  epochWrittenBy: string | null;
  /** Why it was begun. */
  epochReason: string | null;
  /** The first epoch, which every copy of the database keeps. */
  installation: string | null;
}

type EpochRow = Pick<
  ServerRow,
  "id" | "number" | "epochStarted" | "epochSystem" | "epochTimeline" | "epochWrittenBy" | "epochReason"
> &
  Partial<Pick<ServerRow, "system">>;

/** A dump that is restored beside the database and renamed changes nothing of the server but the number of the database. */
const serverProcess = `
  pg_catalog.pg_is_in_recovery() AS "isStandby",
  concat_ws(' ', extract(epoch FROM pg_catalog.pg_postmaster_start_time()),
    (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())) AS started`;

/**
 * The timeline is that of the log's current file, because the control file has the one of the last checkpoint, which can be from before a
 * promotion. The position is what was flushed: what was only written can be lost in a crash without any commit being lost.
 */
const server = `
  SELECT ${serverProcess},
    (SELECT system_identifier::text FROM pg_catalog.pg_control_system()) AS system,
    CASE WHEN NOT pg_catalog.pg_is_in_recovery()
      THEN substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_flush_lsn()), 1, 8) END AS timeline,
    CASE WHEN NOT pg_catalog.pg_is_in_recovery()
      THEN (pg_catalog.pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::text END AS position`;

/** Some hosted servers do not offer these functions. A restart is still noticed, and so is an epoch that an operator has begun. */
const restrictedServer = `
  SELECT ${serverProcess}, NULL::text AS system, NULL::text AS timeline, NULL::text AS position`;

/** Served by the primary key, read backwards, and forwards for the first. Ordered by the column and not by the string of that name, in which 9 is after 10. */
const epoch = `
  SELECT number::text, id::text, system_identifier AS "epochSystem", timeline AS "epochTimeline",
    (extract(epoch FROM started_at) * 1000000)::bigint::text AS "epochStarted", xmin::text AS "epochWrittenBy",
    reason AS "epochReason",
    (SELECT first.id::text FROM database_epochs AS first ORDER BY first.number LIMIT 1) AS installation
  FROM database_epochs ORDER BY database_epochs.number DESC LIMIT 1`;

/** Before the migrations. */
const noEpoch = `
  SELECT NULL::text AS number, NULL::text AS id, NULL::text AS "epochSystem", NULL::text AS "epochTimeline",
    NULL::text AS "epochStarted", NULL::text AS "epochWrittenBy", NULL::text AS "epochReason",
    NULL::text AS installation`;

const undefinedTable = "42P01";
/** insufficient_privilege, undefined_function, feature_not_supported */
const restrictedStates = new Set(["42501", "42883", "0A000"]);

export async function readServer(run: RunText): Promise<ServerRow> {
  try {
    return await join(run, server, epoch);
  } catch (error) {
    const { code = "" } = error as { code?: string };
    if (code === undefinedTable)
      return await join(run, server, noEpoch).catch(() => join(run, restrictedServer, noEpoch));
    if (restrictedStates.has(code)) return await join(run, restrictedServer, epoch);
    throw error;
  }
}

async function join(run: RunText, left: string, right: string): Promise<ServerRow> {
  const [row] = await run(`SELECT * FROM (${left}) AS server LEFT JOIN (${right}) AS epoch ON true`);
  return row as ServerRow;
}

export async function readEpoch(run: RunText): Promise<Epoch | undefined> {
  const [row] = await run(epoch);
  return row === undefined ? undefined : epochOf(row as EpochRow);
}

export function epochOf({ id, number, ...row }: EpochRow): Epoch | undefined {
  if (id === null || number === null) return undefined;
  // The first process that is shown the server's name writes it to the row.
  const isNamed = row.epochSystem !== null || (row.system ?? null) === null;
  return {
    id,
    number: Number(number),
    startedUs: Number(row.epochStarted),
    isRecovered: row.epochReason === "recovered",
    timeline: row.epochTimeline ?? undefined,
    writtenBy: (isNamed ? row.epochWrittenBy : null) ?? undefined,
  };
}

export function toReading(row: ServerRow): DatabaseReading {
  return {
    server: `${row.system} ${row.timeline} ${row.started}`,
    cluster: row.system ?? undefined,
    timeline: row.timeline ?? undefined,
    installation: row.installation ?? undefined,
    epoch: epochOf(row),
    position: row.position === null ? undefined : Number(row.position),
  };
}
