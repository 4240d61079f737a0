import type { ApiClient, ProviderAccount, RecordedPerson } from "../../../app/clients/client.js";
import { isReleased, isSameAddress } from "../../../app/people/provider-account.js";
import type { KeyedQueryable, Queryable, Tx } from "../../core/database.js";
import { type Statement, sql } from "../../core/sql.js";
import { findClientOfTenant } from "../read-client.js";

/*
 * Each account and address that a person gets is appended to person_records, from which the role of the service cannot remove anything. A
 * search for them in the rows of clients does not find a row that something else has changed or deleted for a moment. A record has no MAC,
 * because it can only prevent that a second person gets what it names. What frees an account is in the row of the person, under its MAC.
 */

/**
 * Addresses are compared without regard to the case of ASCII letters only. Other rules make the Kelvin sign a `k`: somebody with such an
 * address at the OpenID provider would be another person.
 */
export function folded(email: Statement): Statement {
  return sql`lower(${email} COLLATE "C")`;
}

/** In the SQL transaction that writes the person. */
export function recordPerson(tx: Tx, { tenantId, id, person }: ApiClient): void {
  if (person === null) return;
  const { email, account } = person;
  const ofAccount = account && sql`, (${tenantId}, ${account.issuer}, ${account.subject}, ${id})`;
  tx.send(sql`
    INSERT INTO person_records (tenant_id, issuer, subject, person_id)
    VALUES (${tenantId}, '', ${folded(sql`${email}::text`)}, ${id}) ${ofAccount ?? sql``}
    ON CONFLICT DO NOTHING
  `);
}

/**
 * Another person who has this account or address, or had the account, as the records say, and whose row does not free it. Served by the primary
 * key.
 */
export async function findRecordedOther(
  source: KeyedQueryable,
  { tenantId, id, email, account }: RecordedPerson,
): Promise<string | undefined> {
  const of = sql`FROM person_records WHERE tenant_id = ${tenantId} AND person_id IS DISTINCT FROM ${id}::uuid`;
  const ofAccount =
    account &&
    sql`UNION ALL SELECT person_id, true ${of} AND issuer = ${account.issuer} AND subject = ${account.subject}`;
  const rows = await source.query<{ personId: string; hasAccount: boolean }>(sql`
    SELECT person_id AS "personId", false AS "hasAccount"
    ${of} AND issuer = '' AND subject = ${folded(sql`${email}::text`)} ${ofAccount ?? sql``}
  `);
  for (const { personId, hasAccount } of rows) {
    const named = await findClientOfTenant(source, tenantId, personId);
    if (named === undefined || named.isTampered === true || named.person === null) return personId;
    const isFree =
      hasAccount && account !== undefined
        ? isReleased(named.person, account)
        : !isSameAddress(named.person.email, email);
    if (!isFree) return personId;
  }
  return undefined;
}

/** Every account that a person has or had. Served by person_records_by_person. */
export async function listRecordedAccounts(
  source: Queryable,
  tenantId: string,
  personId: string,
): Promise<ProviderAccount[]> {
  return await source.query<ProviderAccount>(sql`
    SELECT issuer, subject FROM person_records
    WHERE tenant_id = ${tenantId} AND person_id = ${personId} AND issuer <> '' ORDER BY issuer, subject LIMIT ${accountsMax}
  `);
}

/** More than a person can get. */
const accountsMax = 1000;
