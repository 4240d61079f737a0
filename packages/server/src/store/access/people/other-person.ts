import type { ApiClient, FormerAccount, ProviderAccount } from "../../../app/clients/client.js";
import type { KeyedQueryable } from "../../core/database.js";
import { type Statement, sql } from "../../core/sql.js";
import { findRecordedOther, folded } from "./person-records.js";

export function hasAccount({ issuer, subject }: ProviderAccount): Statement {
  return sql`(clients.oidc_issuer = ${issuer} AND clients.oidc_subject = ${subject})`;
}

/** Served by people_by_former_account. One that was released is nobody's. */
export function hadAccount({ issuer, subject }: ProviderAccount): Statement {
  const contains = (former: FormerAccount) =>
    sql`clients.former_accounts @> ${JSON.stringify([former])}::jsonb`;
  return sql`(${contains({ issuer, subject })} AND NOT ${contains({ issuer, subject, released: true })})`;
}

export function writeFormerAccounts(person: ApiClient["person"]): string | null {
  return person?.formerAccounts === undefined ? null : JSON.stringify(person.formerAccounts);
}

/**
 * Whether the tenant has another person with this address, or who has or had this account. Served by people_by_email, people_by_account
 * and people_by_former_account, and by the primary key of person_records.
 */
export async function hasOtherPerson(
  tx: KeyedQueryable,
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
  return found.length > 0 || (await findRecordedOther(tx, { tenantId, id, email, account })) !== undefined;
}
