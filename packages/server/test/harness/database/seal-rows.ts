import type { ApprovalRequirement } from "@bursar/domain";
import type { IntegrityKeys } from "../../../src/app/access/integrity-keys.js";
import type { Queryable } from "../../../src/store/core/database.js";
import { type Statement, sql } from "../../../src/store/core/sql.js";
import {
  macOfRequirement,
  macOfTransaction,
  type SealedTransaction,
  sealedColumns,
} from "../../../src/store/transactions/transaction-integrity.js";
import { macOfEndpoint } from "../../../src/store/webhooks/endpoint-integrity.js";
import {
  type EndpointRow,
  endpointColumns,
  toEndpoint,
} from "../../../src/store/webhooks/webhook-endpoints.js";

/** Gives open transactions that a test has written to the database the MACs that the service would have given them. */
export async function sealOpenTransactions(
  database: Queryable,
  keys: IntegrityKeys,
  where: Statement = sql`true`,
): Promise<void> {
  const open = await database.query<SealedTransaction>(sql`
    SELECT ${sealedColumns}, w.network, o.needs_judgement AS "needsJudgement"
    FROM open_transactions o JOIN transactions t ON t.tenant_id = o.tenant_id AND t.id = o.id
    JOIN wallets w ON w.tenant_id = t.tenant_id AND w.id = t.source_account_id WHERE ${where}
  `);
  await write(
    database,
    keys,
    sql`UPDATE transactions r SET`,
    sql`r.id = given.id`,
    open.map((row) => ({ tenantId: row.tenantId, id: row.id, mac: macOfTransaction(keys, row).mac })),
  );
  const judged = await database.query<{
    tenantId: string;
    id: string;
    requirement: ApprovalRequirement;
    judgedAt: Date;
  }>(sql`
    SELECT j.tenant_id AS "tenantId", j.transaction_id AS id, j.requirement, j.judged_at AS "judgedAt"
    FROM open_transactions o JOIN transactions t ON t.tenant_id = o.tenant_id AND t.id = o.id
    JOIN judgements j ON j.tenant_id = o.tenant_id AND j.transaction_id = o.id
    WHERE j.requirement IS NOT NULL AND ${where}
  `);
  await write(
    database,
    keys,
    sql`UPDATE judgements r SET`,
    sql`r.transaction_id = given.id`,
    judged.map((row) => ({ tenantId: row.tenantId, id: row.id, mac: macOfRequirement(keys, row).mac })),
  );
}

async function write(
  database: Queryable,
  keys: IntegrityKeys,
  update: Statement,
  key: Statement,
  rows: readonly { tenantId: string; id: string; mac: Buffer }[],
): Promise<void> {
  if (rows.length === 0) return;
  await database.query(sql`
    ${update} key_id = ${keys.currentId}, mac = decode(given.mac, 'hex')
    FROM unnest(${rows.map(({ tenantId }) => tenantId)}::uuid[], ${rows.map(({ id }) => id)}::uuid[],
      ${rows.map(({ mac }) => mac.toString("hex"))}::text[]) AS given (tenant_id, id, mac)
    WHERE r.tenant_id = given.tenant_id AND ${key}
  `);
}

/** Gives endpoints that a test has written to the database the MACs that the service would have given them. */
export async function sealEndpoints(database: Queryable, keys: IntegrityKeys): Promise<void> {
  const rows = await database.query<EndpointRow>(sql`SELECT ${endpointColumns} FROM webhook_endpoints e`);
  await write(
    database,
    keys,
    sql`UPDATE webhook_endpoints r SET`,
    sql`r.id = given.id`,
    rows.map((row) => ({ ...row, mac: macOfEndpoint(keys, toEndpoint(keys, row)).mac })),
  );
}
