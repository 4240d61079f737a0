import type { ApiClient, ProviderAccount } from "../../../app/clients/client.js";
import type { Queryable } from "../../core/database.js";
import { type Statement, sql } from "../../core/sql.js";

/**
 * Addresses are compared without regard to the case of ASCII letters only. Other rules make the Kelvin sign a `k`: somebody with such an
 * address at the OpenID provider would be another person.
 */
export function folded(email: Statement): Statement {
  return sql`lower(${email} COLLATE "C")`;
}

export function hasAccount({ issuer, subject }: ProviderAccount): Statement {
  return sql`(clients.oidc_issuer = ${issuer} AND clients.oidc_subject = ${subject})`;
}

/** Served by people_by_former_account. */
export function hadAccount({ issuer, subject }: ProviderAccount): Statement {
  return sql`clients.former_accounts @> ${JSON.stringify([{ issuer, subject }])}::jsonb`;
}

export function writeFormerAccounts(person: ApiClient["person"]): string | null {
  return person?.formerAccounts === undefined ? null : JSON.stringify(person.formerAccounts);
}

/**
 * Whether the tenant has another person with this address, or who has or had this account. Served by people_by_email, people_by_account
 * and people_by_former_account.
 */
export async function hasOtherPerson(
  tx: Queryable,
  { tenantId, id, person }: Pick<ApiClient, "tenantId" | "id" | "person">,
): Promise<boolean> {
  if (person === null) return false;
  const { email, account } = person;
  const others = sql`SELECT id FROM clients WHERE tenant_id = ${tenantId} AND id <> ${id}`;
  const ofAccount =
    account && sql`UNION ALL ${others} AND (${hasAccount(account)} OR ${hadAccount(account)})`;
  const found = await tx.query(sql`
    ${others} AND email IS NOT NULL AND ${folded(sql`email`)} = ${folded(sql`${email}::text`)} ${ofAccount ?? sql``}
  `);
  return found.length > 0;
}
