import type { Session, SessionStore } from "../../../app/people/session.js";
import { sessionLimits } from "../../../app/people/session.js";
import { type Database, type KeyedQueryable, requireKeys } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { appendAudit } from "../audit.js";
import { isRowAuthentic, macOfRow, type RowMac } from "../row-integrity.js";

type SessionRow = Session & RowMac;

const listMax = 50;

export function createSessionStore(database: Database): SessionStore {
  const macOf = (session: Session) => macOfRow(requireKeys(database), "session", contentOf(session));
  return {
    createSession: (session, audit) =>
      database.transaction(async (tx) => {
        const { keyId, mac } = macOf(session);
        const { id, tenantId, clientId, hash, credentialId, address, createdAt, lastUsedAt, expiresAt } =
          session;
        tx.send(sql`
          INSERT INTO sessions (id, tenant_id, client_id, hash, credential_id, address, created_at, last_used_at, expires_at,
            key_id, mac)
          VALUES (${id}, ${tenantId}, ${clientId}, ${Buffer.from(hash)}, ${credentialId}, ${address}, ${createdAt},
            ${lastUsedAt}, ${expiresAt}, ${keyId}, ${mac})
        `);
        await appendAudit(tx, [audit]);
      }),
    // Served by the primary key.
    findSession: async (id) => {
      const [row] = await database.query<SessionRow>(sql`${selectSessions} WHERE id = ${id}`);
      return row && readSession(database, row);
    },
    // Served by the primary key.
    useSession: async (session, at) => {
      const { keyId, mac } = macOf({ ...session, lastUsedAt: at });
      const used = await database.query(sql`
        UPDATE sessions SET last_used_at = ${at}, key_id = ${keyId}, mac = ${mac}
        WHERE id = ${session.id} AND ended_at IS NULL RETURNING id
      `);
      return used.length === 1;
    },
    // Served by sessions_by_client.
    listSessions: async (tenantId, clientId, at) => {
      const idleSince = new Date(at.getTime() - sessionLimits.idleMs);
      const rows = await database.query<SessionRow>(sql`
        ${selectSessions}
        WHERE tenant_id = ${tenantId} AND client_id = ${clientId} AND ended_at IS NULL AND expires_at > ${at}
          AND last_used_at > ${idleSince}
        ORDER BY id DESC LIMIT ${listMax}
      `);
      return rows.flatMap((row) => readSession(database, row) ?? []);
    },
    // Served by the primary keys. The ids are recorded like those of revoked tokens, so that all processes notice.
    endSessions: ({ tenantId, clientId }, ids, at, audit) =>
      database.transaction(async (tx) => {
        const ended = await tx.query<{ id: string }>(sql`
          UPDATE sessions SET ended_at = ${at}
          WHERE id = ANY (${[...ids]}::uuid[]) AND tenant_id = ${tenantId} AND client_id = ${clientId} AND ended_at IS NULL
          RETURNING id
        `);
        const expiresAt = new Date(at.getTime() + 2 * sessionLimits.tokenLifetimeMs);
        for (const { id } of ended)
          tx.send(sql`
            INSERT INTO revoked_tokens (tenant_id, client_id, token_id, expires_at)
            VALUES (${tenantId}, ${clientId}, ${id}, ${expiresAt}) ON CONFLICT DO NOTHING
          `);
        if (ended.length > 0) await appendAudit(tx, [audit]);
        return ended.map(({ id }) => id);
      }),
  };
}

const selectSessions = sql`
  SELECT id, tenant_id AS "tenantId", client_id AS "clientId", hash, credential_id AS "credentialId", address,
    created_at AS "createdAt", last_used_at AS "lastUsedAt", expires_at AS "expiresAt", ended_at AS "endedAt",
    key_id AS "keyId", mac
  FROM sessions
`;

function readSession(source: KeyedQueryable, { keyId, mac, ...session }: SessionRow): Session | undefined {
  return isRowAuthentic(requireKeys(source), "session", contentOf(session), { keyId, mac })
    ? session
    : undefined;
}

/** That it has ended is not covered: to end a session needs no proof. */
function contentOf(session: Session): object {
  const { id, tenantId, clientId, hash, credentialId, createdAt, lastUsedAt, expiresAt } = session;
  const hashed = Buffer.from(hash).toString("hex");
  return { id, tenantId, clientId, hash: hashed, credentialId, createdAt, lastUsedAt, expiresAt };
}
