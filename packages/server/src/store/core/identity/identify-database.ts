import type { CommitWitnesses } from "../../../runtime/database/commit-witnesses.js";
import type {
  DatabaseReading,
  KnownDatabase,
  ObservedIdentity,
} from "../../../runtime/database/database-identity.js";
import { beginEpoch, type EpochReason, nameServer } from "./database-epochs.js";
import { hasLostCommit } from "./find-lost-commit.js";
import { type RunText, readServer, type ServerRow, toReading } from "./read-server.js";
import { findRefusal, isEmptied } from "./refused-server.js";

export interface IdentifyDeps {
  identity: ObservedIdentity;
  witnesses: Pick<CommitWitnesses, "list">;
  /** Whether no other connection is open. Then anything can have happened to the database, even if its server has not restarted. */
  isAlone: boolean;
  /** Whether the URL names other servers, one of which can have the tables. */
  hasOthers: boolean;
}

const readOnlyTransaction = "25006";

/**
 * Reads what is behind a connection, begins a new epoch if committed data may have been lost, and reports it. Every connection does so
 * before it is used, so nothing is read from or written to another database than the one that the process knows. Returns the generation that
 * the connection belongs to; undefined if the database changed meanwhile, so that it is not known.
 */
export async function identifyDatabase(run: RunText, deps: IdentifyDeps): Promise<number | undefined> {
  const known = deps.identity.known();
  const row = await readServer(run);
  const reading = toReading(row);
  const refusal = findRefusal(reading, known, deps.hasOthers);
  if (refusal !== undefined) {
    if (isEmptied(reading, known)) deps.identity.distrust();
    throw refusal;
  }
  return deps.identity.observe(await conclude(run, row, reading, known, deps), known);
}

async function conclude(
  run: RunText,
  row: ServerRow,
  reading: DatabaseReading,
  known: KnownDatabase,
  deps: IdentifyDeps,
): Promise<DatabaseReading> {
  // A standby cannot be written to. When it is promoted, the timeline tells.
  if (reading.epoch === undefined || row.isStandby) return reading;
  if (row.epochSystem === null && row.system !== null) await nameServer(run, row);
  const shown = reasonOf(row);
  const reason = shown ?? ((await isRewound(run, reading, known, deps)) ? "rewound" : undefined);
  if (reason === undefined) return reading;
  try {
    return { ...reading, epoch: await beginEpoch(run, row, reason, known.epoch?.number ?? 0) };
  } catch (error) {
    // A server that takes no writes yet is not ready; a later connection begins the epoch. If the reason is only in this process's memory,
    // the reading would erase it, so such a server is not used at all.
    if ((error as { code?: string }).code !== readOnlyTransaction || shown === undefined) throw error;
    return reading;
  }
}

/** What the row of the epoch shows to everyone: it was begun on another server. Not if another process has noticed before. */
function reasonOf({ system, timeline, epochSystem, epochTimeline }: ServerRow): EpochReason | undefined {
  if (system === null || epochSystem === null) return undefined;
  if (epochSystem !== system) return "restored";
  return epochTimeline !== null && epochTimeline !== timeline ? "promoted" : undefined;
}

/** Whether the database is behind what this process has seen: a copy of the data was put back. */
async function isRewound(
  run: RunText,
  found: DatabaseReading,
  known: KnownDatabase,
  { witnesses, isAlone }: IdentifyDeps,
): Promise<boolean> {
  if (found.epoch === undefined || known.epoch === undefined) return false;
  if (found.epoch.number < known.epoch.number) return true;
  // Another process, or an operator, has noticed before.
  if (found.epoch.id !== known.epoch.id) return false;
  // A dump was restored under open connections. What was written since can have taken the place of the facts below.
  if (known.epoch.writtenBy !== undefined && found.epoch.writtenBy !== known.epoch.writtenBy) return true;
  if (found.position !== undefined && found.position < (known.position ?? 0)) return true;
  // The log can be ahead: a copy that was put back may have been worked on elsewhere.
  if (found.server === known.server && !isAlone) return false;
  return await hasLostCommit(run, witnesses.list());
}
