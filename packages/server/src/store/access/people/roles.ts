import { isRoleOfTenant, type Role, type RoleStore } from "../../../app/people/role.js";
import type { Refused } from "../../../app/requests/refused.js";
import { type Database, type KeyedQueryable, requireKeys, type Tx } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { appendAudit } from "../audit.js";
import { reviewCaller } from "../review-caller.js";
import { isRowAuthentic, macOfRow, type RowMac } from "../row-integrity.js";

interface RoleRow extends RowMac {
  tenantId: string;
  name: string;
  scopes: Role["scopes"];
  createdBy: string | null;
  createdAt: Date;
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
        const [counted] = await tx.query<{ isFull: boolean }>(sql`
          SELECT count(*) >= ${rolesMax} AS "isFull" FROM roles WHERE tenant_id = ${tenantId}
        `);
        if (counted?.isFull === true) return { refused: "ROLE_LIMIT_REACHED" };
        const { keyId, mac } = macOfRow(
          requireKeys(tx),
          "role",
          contentOf({ tenantId, name, scopes, createdBy, createdAt }),
        );
        const inserted = await tx.query(sql`
          INSERT INTO roles (tenant_id, name, scopes, created_by, created_at, key_id, mac)
          VALUES (${tenantId}, ${name}, ${[...scopes]}, ${createdBy}, ${createdAt}, ${keyId}, ${mac})
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
        const deleted = await tx.query(sql`
          DELETE FROM roles WHERE tenant_id = ${tenantId} AND name = ${name} RETURNING name
        `);
        if (deleted.length === 0) return { refused: "ROLE_NOT_FOUND" };
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

const selectRoles = sql`
  SELECT tenant_id AS "tenantId", name, scopes, created_by AS "createdBy", created_at AS "createdAt", key_id AS "keyId", mac
  FROM roles
`;

/** Served by the primary key. */
function lockTenant(tx: Tx, tenantId: string): void {
  tx.send(sql`SELECT FROM tenants WHERE id = ${tenantId} FOR NO KEY UPDATE`);
}

/** A role that something else has written does not exist. */
function readRole(source: KeyedQueryable, row: RoleRow): Role | undefined {
  if (!isRowAuthentic(requireKeys(source), "role", contentOf(row), row)) return undefined;
  const { name, scopes, createdBy, createdAt } = row;
  return { name, scopes, isBuiltIn: false, createdBy, createdAt };
}

function contentOf({ tenantId, name, scopes, createdBy, createdAt }: Omit<RoleRow, keyof RowMac>): object {
  return { tenantId, name, scopes, createdBy, createdAt };
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
