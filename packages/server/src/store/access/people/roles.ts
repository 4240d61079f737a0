import { isRoleOfTenant, type Role, type RoleStore } from "../../../app/people/role.js";
import type { Refused } from "../../../app/requests/refused.js";
import { type Database, type KeyedQueryable, requireKeys, type Tx } from "../../core/database.js";
import { type Statement, sql } from "../../core/sql.js";
import { appendAudit } from "../audit.js";
import { reviewCaller } from "../review-caller.js";
import { isRowAuthentic, macOfRow, type RowMac } from "../row-integrity.js";
import { insertStop, nextNumber } from "../stops/stop-records.js";

interface RoleRow extends RowMac {
  tenantId: string;
  name: string;
  scopes: Role["scopes"];
  createdBy: string | null;
  createdAt: Date;
  /** The deletions of roles with this name are numbered. This is the number that the role's own deletion would have when it was created. */
  generation: string;
  /** Whether no role with this name was deleted since it was created. */
  isCurrent: boolean;
}

const rolesMax = 50;

export function createRoleStore(database: Database): RoleStore {
  return {
    // Served by the primary key.
    listRoles: async (tenantId) =>
      (
        await database.query<RoleRow>(sql`
          ${selectRoles} WHERE tenant_id = ${tenantId} ORDER BY name LIMIT ${rolesMax}
        `)
      ).flatMap((row) => readRole(database, row) ?? []),
    findRole: async (tenantId, name) => {
      const [row] = await database.query<RoleRow>(sql`
        ${selectRoles} WHERE tenant_id = ${tenantId} AND name = ${name}
      `);
      return row && readRole(database, row);
    },
    createRole: (tenantId, { name, scopes, createdBy, createdAt }, audit, caller) =>
      database.transaction(async (tx) => {
        lockTenant(tx, tenantId);
        const refused = await reviewCaller(tx, tenantId, caller);
        if (refused !== undefined) return refused;
        const [{ isFull, generation } = noRoles] = await tx.query<typeof noRoles>(sql`
          SELECT count(*) >= ${rolesMax} AS "isFull", ${nextDeletion(sql`${tenantId}::uuid`, sql`${name}::text`)} AS generation
          FROM roles WHERE tenant_id = ${tenantId}
        `);
        if (isFull) return { refused: "ROLE_LIMIT_REACHED" };
        const { keyId, mac } = macOfRow(
          requireKeys(tx),
          "role",
          contentOf({ tenantId, name, scopes, createdBy, createdAt, generation }),
        );
        const inserted = await tx.query(sql`
          INSERT INTO roles (tenant_id, name, scopes, created_by, created_at, generation, key_id, mac)
          VALUES (${tenantId}, ${name}, ${[...scopes]}, ${createdBy}, ${createdAt}, ${generation}, ${keyId}, ${mac})
          ON CONFLICT DO NOTHING RETURNING name
        `);
        if (inserted.length === 0) return { refused: "ROLE_EXISTS" };
        await appendAudit(tx, [audit]);
        return undefined;
      }),
    deleteRole: (tenantId, name, audit, caller) =>
      database.transaction(async (tx) => {
        lockTenant(tx, tenantId);
        const refused = await reviewCaller(tx, tenantId, caller);
        if (refused !== undefined) return refused;
        // Waits for those who are giving the role, so that the next statement sees who has it.
        tx.send(sql`SELECT FROM roles WHERE tenant_id = ${tenantId} AND name = ${name} FOR UPDATE`);
        // Served by people_by_tenant.
        const holders = await tx.query(sql`
          SELECT id FROM clients WHERE tenant_id = ${tenantId} AND email IS NOT NULL AND role = ${name} LIMIT 1
        `);
        if (holders.length > 0) return { refused: "ROLE_IN_USE" };
        // A person who is to get a lesser role would otherwise delete it before the change is approved. Served by change_requests_open.
        const requests = await tx.query(sql`
          SELECT id FROM change_requests
          WHERE tenant_id = ${tenantId} AND state IN ('pending', 'scheduled') AND change->>'role' = ${name} LIMIT 1
        `);
        if (requests.length > 0) return { refused: "ROLE_IN_USE" };
        const [deleted] = await tx.query<{ subjectId: string }>(sql`
          DELETE FROM roles WHERE tenant_id = ${tenantId} AND name = ${name}
          RETURNING ${subjectOf(sql`tenant_id`, sql`name`)} AS "subjectId"
        `);
        if (deleted === undefined) return { refused: "ROLE_NOT_FOUND" };
        tx.send(insertStop({ tenantId, subjectId: deleted.subjectId }));
        await appendAudit(tx, [audit]);
        return undefined;
      }),
  };
}

/**
 * Refuses to give a role that was deleted since it was looked up, or has other scopes now. Otherwise the role is locked, so that it is not
 * deleted before this SQL transaction has ended. Served by the primary key.
 */
export async function refuseLostRole(
  tx: Tx,
  tenantId: string,
  { role, scopes }: { role: string; scopes: Role["scopes"] },
): Promise<Refused | undefined> {
  if (!isRoleOfTenant(role)) return undefined;
  const [row] = await tx.query<RoleRow>(sql`
    ${selectRoles} WHERE tenant_id = ${tenantId} AND name = ${role} FOR KEY SHARE
  `);
  const found = row && readRole(tx, row);
  const isSame = found !== undefined && String([...found.scopes].sort()) === String([...scopes].sort());
  return isSame ? undefined : { refused: "ROLE_NOT_FOUND" };
}

const noRoles = { isFull: false, generation: "1" };

/*
 * A row of a role that was deleted could be put back, with the MAC of then. So each deletion is recorded where the role of the service cannot
 * remove it, with the records of stops, for the name: whatever the row said, no role with this name from before exists any more.
 */

/** The subject of the records about a name. */
function subjectOf(tenantId: Statement, name: Statement): Statement {
  const content = sql`convert_to('role ' || ${tenantId} || ' ' || ${name}, 'UTF8')`;
  return sql`encode(substring(sha256(${content}) FOR 16), 'hex')::uuid`;
}

/** The number of the next deletion. Served by the primary key of stop_records. */
function nextDeletion(tenantId: Statement, name: Statement): Statement {
  return nextNumber(tenantId, subjectOf(tenantId, name));
}

const selectRoles = sql`
  SELECT tenant_id AS "tenantId", name, scopes, created_by AS "createdBy", created_at AS "createdAt", generation, key_id AS "keyId", mac,
    generation = ${nextDeletion(sql`roles.tenant_id`, sql`roles.name`)} AS "isCurrent"
  FROM roles
`;

/** Served by the primary key. */
function lockTenant(tx: Tx, tenantId: string): void {
  tx.send(sql`SELECT FROM tenants WHERE id = ${tenantId} FOR NO KEY UPDATE`);
}

/** A role that something else has written, or that was deleted, does not exist. */
function readRole(source: KeyedQueryable, row: RoleRow): Role | undefined {
  if (!row.isCurrent || !isRowAuthentic(requireKeys(source), "role", contentOf(row), row)) return undefined;
  const { name, scopes, createdBy, createdAt } = row;
  return { name, scopes, isBuiltIn: false, createdBy, createdAt };
}

function contentOf(row: Omit<RoleRow, keyof RowMac | "isCurrent">): object {
  const { tenantId, name, scopes, createdBy, createdAt, generation } = row;
  return { tenantId, name, scopes, createdBy, createdAt, generation };
}

/** Writes the MACs of roles with the current key. They are few. */
export async function resealRoles(tx: Tx): Promise<void> {
  const rows = await tx.query<RoleRow>(sql`${selectRoles} ORDER BY tenant_id, name FOR UPDATE`);
  for (const row of rows) {
    if (readRole(tx, row) === undefined) continue;
    const { keyId, mac } = macOfRow(requireKeys(tx), "role", contentOf(row));
    tx.send(sql`
      UPDATE roles SET key_id = ${keyId}, mac = ${mac} WHERE tenant_id = ${row.tenantId} AND name = ${row.name}
    `);
  }
}
