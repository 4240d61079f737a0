import {
  type DatabaseReading,
  type Epoch,
  isOlderTimeline,
  type KnownDatabase,
} from "../../../runtime/database/database-identity.js";
import { DatabaseUnavailableError } from "../database-unavailable-error.js";

type Found = Pick<DatabaseReading, "server" | "cluster" | "timeline" | "installation" | "epoch">;

/** A server that this process may not use, and what an operator should know of it. It counts as unavailable. */
export class RefusedServerError extends DatabaseUnavailableError {
  readonly facts: Readonly<Record<string, string | undefined>>;

  constructor(message: string, facts: Readonly<Record<string, string | undefined>>) {
    super(message);
    this.facts = facts;
  }
}

const olderTimeline =
  "A database server on an earlier timeline is not used: it is an old primary that has come back, or a copy from before a promotion. Stop it. If it was put back on purpose, run `bursar recover` on it and restart the service.";
const olderEpoch =
  "A database server in an earlier epoch of the same timeline is not used: it is an old primary that has come back, or an older copy. Stop it. If it was put back on purpose, run `bursar recover` on it.";
const foreign =
  "A database server with another installation of Bursar is not used. Name it in DATABASE_URL only for processes of that installation.";
const empty =
  "A database server of another cluster that has no tables is not used: it is a standby that was set up but not copied, or a server that a backup has not been restored to yet.";

/**
 * Why a server is not the database that the process knows; undefined if it can be. If the URL names one server, what is found there is what
 * the operator wants, unless it is another installation.
 */
export function findRefusal(
  found: Found,
  known: KnownDatabase,
  hasOthers: boolean,
): RefusedServerError | undefined {
  if (isOlderTimeline(found, known))
    return new RefusedServerError(olderTimeline, { timeline: found.timeline, seen_timeline: known.timeline });
  if (hasOthers && isOlderEpoch(found, known))
    return new RefusedServerError(olderEpoch, {
      epoch: describe(found.epoch),
      seen_epoch: describe(known.epoch),
    });
  if (isOther(found.installation, known.installation))
    return new RefusedServerError(foreign, {
      installation: found.installation,
      seen_installation: known.installation,
    });
  // An empty database in the known cluster is another matter: an operator has dropped it and is about to restore it.
  if (hasOthers && isEmptied(found, known) && isOther(found.cluster, known.cluster))
    return new RefusedServerError(empty, { cluster: found.cluster, seen_cluster: known.cluster });
  return undefined;
}

/**
 * Two standbys that were promoted apart can be on timelines of the same number. Then the epochs tell which was promoted later: by their
 * numbers, and by their times if a process that knew nothing of the first promotion has begun the epoch after the second.
 */
function isOlderEpoch(found: Found, known: KnownDatabase): boolean {
  // The server is the known one: a backup was restored in it.
  if (found.server === known.server) return false;
  if (found.cluster === undefined || found.cluster !== known.cluster || found.timeline !== known.timeline)
    return false;
  if (found.epoch === undefined || known.epoch === undefined) return false;
  // An operator has put it back on purpose, and said so. Its number follows the one of the backup, which may be lower than the known one.
  if (found.epoch.isRecovered === true && found.epoch.startedUs > known.epoch.startedUs) return false;
  // Nobody has worked on it since its promotion: it is not what came before the known one, but what comes after.
  if (found.epoch.timeline !== undefined && found.epoch.timeline !== found.timeline) return false;
  if (found.epoch.number !== known.epoch.number) return found.epoch.number < known.epoch.number;
  return found.epoch.id !== known.epoch.id && found.epoch.startedUs < known.epoch.startedUs;
}

export function isEmptied(found: Pick<Found, "epoch">, known: KnownDatabase): boolean {
  return found.epoch === undefined && known.epoch !== undefined;
}

function describe(epoch: Epoch | undefined): string | undefined {
  return epoch && `${epoch.number} ${epoch.id}`;
}

function isOther(found: string | undefined, seen: string | undefined): boolean {
  return found !== undefined && seen !== undefined && found !== seen;
}
