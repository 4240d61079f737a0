import { showId } from "@bursar/protocol";
import { addressBlock } from "../../runtime/address-block.js";
import { createRecentCache } from "../../runtime/recent-cache.js";
import { type AuditDraft, describeAct } from "../audit/audit-entry.js";
import { originOf } from "./log-in.js";
import type { PersonClient } from "./people-service.js";
import type { Session } from "./session.js";
import type { Caller } from "./session-service.js";

/** Where a session was used from, as far as this process has seen it. */
interface Seen {
  /** The address blocks that have an entry, the last one at the end. */
  blocks: string[];
  /** When the last entries were made. */
  recordedAtMs: number[];
  /** How many uses from new blocks have none. */
  skipped: number;
}

const sessionsMax = 10_000;
const blocksOfSessionMax = 8;
const entriesPerMinuteMax = 8;

interface SessionMove {
  /** Undefined if it is not to be recorded. */
  entry: AuditDraft | undefined;
  /** Called when the entry was written. */
  onRecorded: () => void;
}

/**
 * Uses of a session from an address block that it was not used from before get an entry: somebody may have copied the cookie. Who goes to
 * and fro between a few blocks, as a laptop with a VPN does, makes no more of them, and who has many blocks makes a few each minute: the log
 * of a tenant cannot be flooded with one cookie. The uses that were left out are counted in the next entry.
 */
export function createSessionMoves() {
  const sessions = createRecentCache<Seen>(sessionsMax);
  return {
    describe: (session: Session, person: PersonClient, from: Caller, at: Date): SessionMove => {
      const block = addressBlock(from.address);
      const seen = sessions.get(session.id) ?? firstSeen(session);
      const none = { entry: undefined, onRecorded: () => undefined };
      if (seen.blocks.includes(block)) return none;
      const sinceMs = at.getTime() - 60_000;
      const recordedAtMs = seen.recordedAtMs.filter((atMs) => atMs > sinceMs && atMs <= at.getTime());
      if (recordedAtMs.length >= entriesPerMinuteMax) {
        sessions.set(session.id, { ...seen, skipped: seen.skipped + 1 });
        return none;
      }
      const { principal, ...origin } = originOf(person, from);
      const of = { ...origin, principal: { ...principal, sessionId: session.id } };
      const entry = describeAct(of, "session.use", showId("ses", session.id), at);
      return {
        entry: { ...entry, repeated: 1 + seen.skipped },
        onRecorded: () =>
          sessions.set(session.id, {
            blocks: [...seen.blocks, block].slice(-blocksOfSessionMax),
            recordedAtMs: [...recordedAtMs, at.getTime()],
            skipped: 0,
          }),
      };
    },
  };
}

/** Another process may have recorded others: each of them makes one entry for each block. */
function firstSeen({ address, lastAddress }: Session): Seen {
  const blocks = [addressBlock(address), addressBlock(lastAddress ?? address)];
  return { blocks, recordedAtMs: [], skipped: 0 };
}
