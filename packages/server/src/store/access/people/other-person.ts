import type { ApiClient } from "../../../app/clients/client.js";
import type { Queryable } from "../../core/database.js";
import { type Statement, sql } from "../../core/sql.js";

/**
 * Addresses are compared without regard to the case of ASCII letters only. Other rules make the Kelvin sign a `k`: somebody with such an
 * address at the OpenID provider would be another person.
 */
export function folded(email: Statement): Statement {
  return sql`lower(${email} COLLATE "C")`;
}

/** Whether the tenant has another person with this address, or this account. Served by people_by_email and people_by_account. */
export async function hasOtherPerson(
  tx: Queryable,
  { tenantId, id, person }: Pick<ApiClient, "tenantId" | "id" | "person">,
): Promise<boolean> {
  if (person === null) return false;
  const found = await tx.query(sql`
    SELECT id FROM clients WHERE tenant_id = ${tenantId} AND id <> ${id} AND email IS NOT NULL AND ${folded(sql`email`)} = ${folded(sql`${person.email}::text`)}
    UNION ALL
    SELECT id FROM clients WHERE tenant_id = ${tenantId} AND id <> ${id} AND oidc_issuer = ${person.account?.issuer ?? null} AND oidc_subject = ${person.account?.subject ?? null}
  `);
  return found.length > 0;
}
