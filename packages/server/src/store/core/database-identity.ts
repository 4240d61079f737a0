import type { DatabaseReading, Epoch, ObservedIdentity } from "../../runtime/database-identity.js";

/** Runs one statement and returns its rows. */
export type RunText = (text: string, values?: readonly string[]) => Promise<unknown[]>;

interface Row {
  /** Undefined if the server is a standby, or does not show its control data. */
  system: string | null;
  timeline: string | null;
  started: string;
  position: string | null;
  number: string | null;
  id: string | null;
  epochSystem: string | null;
  epochTimeline: string | null;
}

type EpochReason = "promoted" | "restored" | "rewound";

/**
 * The timeline is that of the log's current file, because the control file has the one of the last checkpoint, which can be from before a
 * promotion. The position is what was flushed: what was only written can be lost in a crash without any commit being lost.
 */
const server = `
  SELECT extract(epoch FROM pg_catalog.pg_postmaster_start_time())::text AS started,
    (SELECT system_identifier::text FROM pg_catalog.pg_control_system()) AS system,
    CASE WHEN NOT pg_catalog.pg_is_in_recovery()
      THEN substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_flush_lsn()), 1, 8) END AS timeline,
    CASE WHEN NOT pg_catalog.pg_is_in_recovery()
      THEN (pg_catalog.pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::text END AS position`;

/** Some hosted servers do not offer these functions. A restart is still noticed, and so is an epoch that an operator has begun. */
const restrictedServer = `
  SELECT extract(epoch FROM pg_catalog.pg_postmaster_start_time())::text AS started,
    NULL::text AS system, NULL::text AS timeline, NULL::text AS position`;

/** Served by the primary key, read backwards. */
const epoch = `
  SELECT number::text, id::text, system_identifier AS "epochSystem", timeline AS "epochTimeline"
  FROM database_epochs ORDER BY number DESC LIMIT 1`;

/** Before the migrations. */
const noEpoch = `
  SELECT NULL::text AS number, NULL::text AS id, NULL::text AS "epochSystem", NULL::text AS "epochTimeline"`;

const undefinedTable = "42P01";
const readOnlyTransaction = "25006";
/** insufficient_privilege, undefined_function, feature_not_supported */
const restrictedStates = new Set(["42501", "42883", "0A000"]);

/**
 * Reads what is behind a connection, begins a new epoch if committed data may have been lost, and reports it. Every connection does so
 * before it is used, so nothing is read from or written to another database than the one that the process knows. Returns the generation that
 * the connection belongs to; undefined if the database changed meanwhile, so that it is not known.
 */
export async function identifyDatabase(
  run: RunText,
  identity: ObservedIdentity,
): Promise<number | undefined> {
  const known = identity.known();
  const row = await readRow(run);
  return identity.observe(await conclude(run, row, known), known);
}

async function readRow(run: RunText): Promise<Row> {
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

async function join(run: RunText, left: string, right: string): Promise<Row> {
  const [row] = await run(`SELECT * FROM (${left}) AS server LEFT JOIN (${right}) AS epoch ON true`);
  return row as Row;
}

async function conclude(
  run: RunText,
  row: Row,
  known: ReturnType<ObservedIdentity["known"]>,
): Promise<DatabaseReading> {
  const found = epochOf(row);
  const reading = {
    server: `${row.system} ${row.timeline} ${row.started}`,
    epoch: found,
    position: row.position === null ? undefined : Number(row.position),
  };
  // A standby cannot be written to. When it is promoted, the timeline tells.
  if (found === undefined || row.system === null || row.timeline === null) return reading;
  if (row.epochSystem === null) await nameServer(run, found, row);
  const reason = reasonOf(row, known);
  return reason === undefined ? reading : { ...reading, epoch: await beginEpoch(run, found, row, reason) };
}

function epochOf({ id, number }: Row): Epoch | undefined {
  return id === null || number === null ? undefined : { id, number: Number(number) };
}

/** Why committed data may have been lost; undefined if not, or if another process has noticed before. */
function reasonOf(row: Row, known: ReturnType<ObservedIdentity["known"]>): EpochReason | undefined {
  if (row.epochSystem !== null && row.epochSystem !== row.system) return "restored";
  if (row.epochTimeline !== null && row.epochTimeline !== row.timeline) return "promoted";
  // The same timeline, but its log was further before: a copy of the data was put back.
  const isBehind = Number(row.position) < known.position;
  return isBehind && known.epoch?.id === row.id ? "rewound" : undefined;
}

/** The first epoch belongs to the server on which the tables were created. Served by the primary key. */
async function nameServer(run: RunText, { number }: Epoch, { system, timeline }: Row): Promise<void> {
  await run(
    `UPDATE database_epochs SET system_identifier = $1, timeline = $2
     WHERE number = $3 AND system_identifier IS NULL`,
    [system ?? "", timeline ?? "", String(number)],
  );
}

/** Of several processes one begins the epoch. The others find it. Served by the primary key. */
async function beginEpoch(
  run: RunText,
  { number }: Epoch,
  { system, timeline }: Row,
  reason: EpochReason,
): Promise<Epoch | undefined> {
  await run(
    `INSERT INTO database_epochs (number, system_identifier, timeline, reason) VALUES ($1, $2, $3, $4)
     ON CONFLICT (number) DO NOTHING`,
    [String(number + 1), system ?? "", timeline ?? "", reason],
  ).catch((error: { code?: string }) => {
    // A server that takes no writes yet is not ready; a later connection begins the epoch.
    if (error.code !== readOnlyTransaction) throw error;
  });
  return epochOf(await join(run, restrictedServer, epoch));
}
