import type { EventQuery, EventReader, EventSearch } from "../../app/events/event.js";
import type { Database } from "../core/database.js";
import { selectBoundedPage, toListed } from "../core/rows/bounded-page.js";
import { joinStatements, type Statement, sql } from "../core/sql.js";

export function createEventSearch(database: Database, { readEvents }: EventReader): EventSearch {
  return {
    findEvents: async (tenantId, query) => {
      const rows = await database.query<{ id: string; isEnd: boolean }>(selectPageOfEvents(tenantId, query));
      const { items, scannedTo } = toListed(rows, ({ id }) => Number(id));
      // An event never changes, so that a statement of its own can read it.
      const events = items.length === 0 ? [] : await readEvents(tenantId, items);
      return {
        events: query.isNewestFirst ? events.toReversed() : events,
        scannedTo: scannedTo === undefined ? undefined : Number(scannedTo),
      };
    },
  };
}

const greatestSequence = Number.MAX_SAFE_INTEGER;

/**
 * The sequences of a page. What leads is decided here; kinds that do not lead are looked at row by row, for a bounded number of rows:
 *   a subject     its events (events_by_subject)
 *   rare kinds    all but those of transactions and orders (events_of_rare_kinds, which does not hold these)
 *   otherwise     the primary key
 */
function selectPageOfEvents(tenantId: string, query: EventQuery): Statement {
  const { kinds, subjectId, limit } = query;
  const ofKinds = kinds === undefined ? undefined : sql`WHERE s.event = ANY(${[...kinds]}::text[])`;
  if (subjectId !== undefined)
    return selectBoundedPage({ lead: ofSubject(tenantId, subjectId, query), rest: ofKinds, limit });
  if (kinds !== undefined && !kinds.some(isFrequent))
    return selectBoundedPage({ lead: ofRareKinds(tenantId, kinds, query), rest: undefined, limit });
  return selectBoundedPage({ lead: all(tenantId, query), rest: ofKinds, limit });
}

type Lead = (rowsMax: Statement) => Statement;

function isFrequent(kind: string): boolean {
  return kind === "transaction.updated" || kind === "order.updated";
}

function all(tenantId: string, { after, before = greatestSequence, isNewestFirst }: EventQuery): Lead {
  return (max) => sql`
    SELECT e.sequence AS id, e.event FROM events e
    WHERE e.tenant_id = ${tenantId} AND e.sequence > ${after} AND e.sequence < ${before}
    ORDER BY e.sequence ${directionOf(isNewestFirst)} LIMIT ${max}`;
}

/** Each kind is read by its range of the index, and the first of all of them make the page. */
function ofRareKinds(
  tenantId: string,
  kinds: readonly string[],
  { after, before = greatestSequence, isNewestFirst }: EventQuery,
): Lead {
  const direction = directionOf(isNewestFirst);
  return (max) => {
    const leads = kinds.map(
      (kind) => sql`(
        SELECT e.sequence AS id FROM events e
        WHERE e.tenant_id = ${tenantId} AND e.event NOT IN ('transaction.updated', 'order.updated')
          AND ROW(e.event, e.sequence) > ROW(${kind}, ${after}) AND ROW(e.event, e.sequence) < ROW(${kind}, ${before})
        ORDER BY e.event ${direction}, e.sequence ${direction} LIMIT ${max})`,
    );
    return sql`
      SELECT k.id FROM (${joinStatements(leads, " UNION ALL ")}) k ORDER BY k.id ${direction} LIMIT ${max}`;
  };
}

/** In the order of versions, which is that of sequences: a later version is committed later. */
function ofSubject(tenantId: string, subjectId: string, query: EventQuery): Lead {
  const { after, before, isNewestFirst } = query;
  const events = sql`events e WHERE e.tenant_id = ${tenantId} AND e.subject_id = ${subjectId}`;
  const from = after === 0 ? sql`` : sql`AND e.version > ${lastVersion(events, after)}`;
  const to = before === undefined ? sql`` : sql`AND e.version <= ${lastVersion(events, before - 1)}`;
  return (max) => sql`
    SELECT e.sequence AS id, e.event FROM ${events} ${from} ${to}
    ORDER BY e.version ${directionOf(isNewestFirst)} LIMIT ${max}`;
}

/**
 * The last version of a subject up to a sequence; 0 if there is none. A binary search, because no index has the sequences of a subject, and
 * an order can have as many events as it has fills.
 */
function lastVersion(events: Statement, sequence: number): Statement {
  return sql`(
    WITH RECURSIVE search (low, high) AS (
      SELECT 0, coalesce((SELECT e.version FROM ${events} ORDER BY e.version DESC LIMIT 1), 0)
      UNION ALL
      SELECT CASE WHEN found."isUpTo" THEN found.version ELSE low END,
        CASE WHEN found."isUpTo" THEN high ELSE (low + high + 1) / 2 - 1 END
      FROM search, LATERAL (
        SELECT e.version, e.sequence <= ${sequence} AS "isUpTo" FROM ${events} AND e.version >= (low + high + 1) / 2
        ORDER BY e.version LIMIT 1
      ) found
      WHERE low < high
    )
    SELECT max(low) FROM search)`;
}

function directionOf(isNewestFirst: boolean): Statement {
  return isNewestFirst ? sql`DESC` : sql`ASC`;
}
