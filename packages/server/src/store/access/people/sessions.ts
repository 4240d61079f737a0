import type { Session, SessionStore } from "../../../app/people/session.js";
import { sessionLimits } from "../../../app/people/session.js";
import { type Database, type KeyedQueryable, requireKeys, type Tx } from "../../core/database.js";
import { type Statement, sql } from "../../core/sql.js";
import { appendAudit } from "../audit.js";
import { findClientOfTenant } from "../read-client.js";
import { isRowAuthentic, macOfRow, type RowMac } from "../row-integrity.js";
import { hasEnded, recordEnds } from "../stops/stop-records.js";

type SessionRow = Session & RowMac;

export function createSessionStore(database: Database): SessionStore {
  const macOf = (session: Session) => macOfRow(requireKeys(database), "session", contentOf(session));
  return {
    createSession: (session, audit, describeEnd, isProven) =>
      database.transaction(async (tx) => {
        const { keyId, mac } = macOf(session);
        // A recovery that comes first is seen, and one that comes later ends the session.
        tx.send(
          sql`SELECT FROM clients WHERE tenant_id = ${session.tenantId} AND id = ${session.clientId} FOR NO KEY UPDATE`,
        );
        const person = await findClientOfTenant(tx, session.tenantId, session.clientId);
        if (person === undefined || !isProven(person)) return undefined;
        const { id, tenantId, clientId, hash, credentialId, address, createdAt, lastUsedAt, expiresAt } =
          session;
        // Of two logins at the same time, both can be admitted as the last one. The next login ends the surplus.
        const ended = await end(
          tx,
          session,
          createdAt,
          sql`id IN (
          SELECT id FROM sessions WHERE ${isOpenOf(session, createdAt)}
          ORDER BY last_used_at DESC, id DESC OFFSET ${sessionLimits.openMax - 1})`,
        );
        tx.send(sql`
          INSERT INTO sessions (id, tenant_id, client_id, hash, credential_id, address, created_at, last_used_at, expires_at,
            key_id, mac)
          VALUES (${id}, ${tenantId}, ${clientId}, ${Buffer.from(hash)}, ${credentialId}, ${address}, ${createdAt},
            ${lastUsedAt}, ${expiresAt}, ${keyId}, ${mac})
        `);
        await appendAudit(tx, [...ended.map(describeEnd), audit]);
        return { hasEndedOthers: ended.length > 0 };
      }),
    // Served by the primary keys of sessions and stop_records.
    findSession: async (id) => {
      const [row] = await database.query<SessionRow>(sql`${selectSessions} WHERE id = ${id}`);
      return row && readSession(database, row);
    },
    // Served by the primary keys of sessions and stop_records.
    useSession: async (session, audit) => {
      const { keyId, mac } = macOf(session);
      const use = sql`
        UPDATE sessions SET last_used_at = ${session.lastUsedAt}, last_address = ${session.lastAddress},
          key_id = ${keyId}, mac = ${mac}
        WHERE id = ${session.id} AND ${hasNotEnded} RETURNING id
      `;
      if (audit === undefined) return (await database.query(use)).length === 1;
      return await database.transaction(async (tx) => {
        const isUsed = (await tx.query(use)).length === 1;
        if (isUsed) await appendAudit(tx, [audit]);
        return isUsed;
      });
    },
    // Served by sessions_by_client.
    listSessions: async (tenantId, clientId, at) => {
      const rows = await database.query<SessionRow>(sql`
        ${selectSessions} WHERE ${isOpenOf({ tenantId, clientId }, at)} ORDER BY id DESC LIMIT ${sessionLimits.openMax}
      `);
      return rows.flatMap((row) => readSession(database, row) ?? []);
    },
    endSessions: (person, ids, at, audit) =>
      database.transaction(async (tx) => {
        const chosen = ids === "all" ? sql`expires_at > ${at}` : sql`id = ANY (${[...ids]}::uuid[])`;
        const ended = await end(tx, person, at, chosen);
        if (ended.length > 0) await appendAudit(tx, [audit]);
        return ended;
      }),
  };
}

interface PersonKey {
  tenantId: string;
  clientId: string;
}

/**
 * A writer to the database can put back the row of a session, or its `ended_at`, as it was before the session has ended. So its end is also
 * recorded in stop_records, from which the role of the service cannot remove anything, and which count in any case.
 */
const hasNotEnded = sql`ended_at IS NULL AND ${hasEnded(sql`sessions`)} IS NOT TRUE`;

function isOpenOf({ tenantId, clientId }: PersonKey, at: Date): Statement {
  const idleSince = new Date(at.getTime() - sessionLimits.idleMs);
  return sql`tenant_id = ${tenantId} AND client_id = ${clientId} AND ${hasNotEnded} AND expires_at > ${at}
    AND last_used_at > ${idleSince}`;
}

/**
 * Ends those of a person's sessions, and records their ids like those of revoked tokens, so that all processes notice. The record decides
 * which have not ended: a writer to the database could set `ended_at`, and remove it afterwards. Served by sessions_by_client.
 */
async function end(
  tx: Tx,
  { tenantId, clientId }: PersonKey,
  at: Date,
  chosen: Statement,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    UPDATE sessions SET ended_at = coalesce(ended_at, ${at})
    WHERE tenant_id = ${tenantId} AND client_id = ${clientId} AND ${hasEnded(sql`sessions`)} IS NOT TRUE AND ${chosen}
    RETURNING id
  `);
  const ids = rows.map(({ id }) => id);
  recordEnds(
    tx,
    ids.map((id) => ({ tenantId, id, isEnd: true })),
  );
  const expiresAt = new Date(at.getTime() + 2 * sessionLimits.tokenLifetimeMs);
  if (ids.length > 0)
    tx.send(sql`
      INSERT INTO revoked_tokens (tenant_id, client_id, token_id, expires_at)
      SELECT ${tenantId}::uuid, ${clientId}::uuid, ended.id, ${expiresAt}::timestamptz
      FROM unnest(${ids}::uuid[]) AS ended (id) ON CONFLICT DO NOTHING
    `);
  return ids;
}

/**
 * Ends those of a person's sessions that an OpenID provider has opened. They have no passkey to end with, so they end when the person's
 * role, state or credentials are changed, and their tokens with them.
 */
export async function endProviderSessions(tx: Tx, person: PersonKey, at: Date): Promise<void> {
  await end(tx, person, at, sql`credential_id IS NULL AND expires_at > ${at}`);
}

/** Ends every session of everybody. All of the table is read: it has those of some days. */
export async function endAllSessions(tx: Tx, at: Date): Promise<void> {
  const rows = await tx.query<{ tenantId: string; id: string }>(sql`
    UPDATE sessions SET ended_at = coalesce(ended_at, ${at})
    WHERE ${hasEnded(sql`sessions`)} IS NOT TRUE AND expires_at > ${at} RETURNING tenant_id AS "tenantId", id
  `);
  recordEnds(
    tx,
    rows.map(({ tenantId, id }) => ({ tenantId, id, isEnd: true })),
  );
}

const selectSessions = sql`
  SELECT id, tenant_id AS "tenantId", client_id AS "clientId", hash, credential_id AS "credentialId", address,
    last_address AS "lastAddress",
    created_at AS "createdAt", last_used_at AS "lastUsedAt", expires_at AS "expiresAt",
    CASE WHEN ${hasEnded(sql`sessions`)} THEN coalesce(ended_at, last_used_at) ELSE ended_at END AS "endedAt",
    key_id AS "keyId", mac
  FROM sessions
`;

function readSession(source: KeyedQueryable, { keyId, mac, ...session }: SessionRow): Session | undefined {
  return isRowAuthentic(requireKeys(source), "session", contentOf(session), { keyId, mac })
    ? session
    : undefined;
}

/** That it has ended is not covered: to end a session needs no proof, and its end is recorded elsewhere. */
function contentOf(session: Session): object {
  const { id, tenantId, clientId, hash, credentialId, address, createdAt, lastUsedAt, expiresAt } = session;
  const hashed = Buffer.from(hash).toString("hex");
  // Left out if there is none, as in the rows of earlier versions.
  const used = session.lastAddress === null ? {} : { lastAddress: session.lastAddress };
  return {
    ...{ id, tenantId, clientId, hash: hashed, credentialId, address },
    ...{ createdAt, lastUsedAt, expiresAt, ...used },
  };
}
