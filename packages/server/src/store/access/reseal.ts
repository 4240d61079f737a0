import type { ApiClient } from "../../app/clients/client.js";
import { resealAddresses } from "../chain/wallets/reseal-addresses.js";
import type { Database, Tx } from "../core/database.js";
import { resealOperatorRequests } from "../core/operator-requests.js";
import { sql } from "../core/sql.js";
import { resealOrders } from "../markets/reseal-orders.js";
import { resealTransactions } from "../transactions/reseal-transactions.js";
import { resealDeposits } from "../transactions/sealed-deposits.js";
import { resealEndpoints } from "../webhooks/reseal-endpoints.js";
import { type EndedKeys, type EndOptions, endOtherKeys } from "./audit-log/end-other-keys.js";
import { resealChangeRequests } from "./change-requests/change-requests.js";
import { writeSeal } from "./client-integrity.js";
import { resealRoles } from "./people/roles.js";
import { findClientOfTenant } from "./read-client.js";
import { resealTenants } from "./single-administrator.js";
import { resealStops } from "./stops/reseal-stops.js";
import { resealSweeps } from "./sweeps.js";

/** Encrypts a secret again with the current master key; undefined if it stays as it is. It can have been encrypted for an older context. */
export type Reseal = (context: string, sealed: Uint8Array, oldContext?: string) => Uint8Array | undefined;

/** The context of what is sealed for an object of a tenant, and that of before tenants were part of it. */
interface SubjectContexts {
  current: (subject: { tenantId: string; id: string }) => string;
  old: (id: string) => string;
}

export interface Resealed extends EndedKeys {
  tokenKeys: number;
  clientKeys: number;
  webhookSecrets: number;
  approvals: number;
  /** MACs of rows that hold no secret. */
  macs: number;
  /** Deposits whose MAC is wrong, and was not written again. */
  forgedDeposits: number;
}

const batchMax = 200;

/**
 * Encrypts every secret in the database, and authenticates every row that the service acts on, with the current master key, in small batches, each a SQL transaction that locks only its rows: the
 * service goes on meanwhile. It can be stopped and started again at any time.
 */
export async function resealSecrets(
  database: Database,
  reseal: Reseal,
  contexts: {
    tokenKey: (id: string) => string;
    clientKey: (id: string) => string;
    endpoint: (tenantId: string, id: string) => string;
    approval: SubjectContexts;
    changeDecision: SubjectContexts;
  },
  now: Date,
  options?: EndOptions,
): Promise<Resealed> {
  await inBatches(database, async (tx, after) => ({
    written: 0,
    lastId: await resealChangeRequests(tx, after, batchMax),
  }));
  await database.transaction(resealTenants);
  await database.transaction(resealRoles);
  const deposits = await resealDeposits(database);
  return {
    tokenKeys: await database.transaction((tx) => resealTokenKeys(tx, reseal, contexts.tokenKey)),
    clientKeys: await inBatches(database, (tx, after) =>
      resealClients(tx, after, reseal, contexts.clientKey),
    ),
    webhookSecrets: await inBatches(database, (tx, after) =>
      resealEndpoints(tx, after, batchMax, ({ tenantId, id }, sealed) =>
        reseal(contexts.endpoint(tenantId, id), sealed),
      ),
    ),
    approvals:
      (await inBatches(database, (tx, after) => resealApprovals(tx, after, reseal, contexts.approval))) +
      (await inBatches(database, (tx, after) =>
        resealChangeSignatures(tx, after, reseal, contexts.changeDecision),
      )),
    forgedDeposits: deposits.refused,
    macs:
      deposits.written +
      (await resealTransactions(database)) +
      (await resealOrders(database)) +
      (await resealAddresses(database)) +
      (await resealStops(database)) +
      (await resealOperatorRequests(database)) +
      (await database.transaction(resealSweeps)),
    ...(await endOtherKeys(database, now, options)),
  };
}

/** One batch: how many secrets it has written, and the id of its last row; undefined if there are no more rows. */
interface Batch {
  written: number;
  lastId: string | undefined;
}

const firstId = "00000000-0000-0000-0000-000000000000";

async function inBatches(
  database: Database,
  next: (tx: Tx, afterId: string) => Promise<Batch>,
): Promise<number> {
  let written = 0;
  for (let afterId: string | undefined = firstId; afterId !== undefined; ) {
    const from: string = afterId;
    const batch: Batch = await database.transaction((tx) => next(tx, from));
    written += batch.written;
    afterId = batch.lastId;
  }
  return written;
}

/** There are a handful. */
async function resealTokenKeys(tx: Tx, reseal: Reseal, contextOf: (id: string) => string): Promise<number> {
  const rows = await tx.query<{ id: string; sealed: Buffer }>(sql`
    SELECT id, private_key AS sealed FROM token_keys ORDER BY id FOR UPDATE
  `);
  let written = 0;
  for (const { id, sealed } of rows) {
    const again = reseal(contextOf(id), sealed);
    if (again === undefined) continue;
    tx.send(sql`UPDATE token_keys SET private_key = ${Buffer.from(again)} WHERE id = ${id}`);
    written += 1;
  }
  return written;
}

/** Clients are locked as a whole, like for any change of their credentials. Served by the primary key. */
async function resealClients(
  tx: Tx,
  afterId: string,
  reseal: Reseal,
  contextOf: (id: string) => string,
): Promise<Batch> {
  const rows = await tx.query<{ id: string; tenantId: string }>(sql`
    SELECT id, tenant_id AS "tenantId" FROM clients WHERE id > ${afterId} ORDER BY id LIMIT ${batchMax} FOR UPDATE
  `);
  let written = 0;
  for (const { id, tenantId } of rows) {
    const client = await findClientOfTenant(tx, tenantId, id);
    if (client !== undefined) written += resealClient(tx, client, reseal, contextOf);
  }
  return { written, lastId: rows.at(-1)?.id };
}

/** Also writes its MAC again, unless it was tampered with. */
function resealClient(tx: Tx, client: ApiClient, reseal: Reseal, contextOf: (id: string) => string): number {
  if (client.isTampered === true) return 0;
  let written = 0;
  const keys = client.keys.map((key) => {
    const { id, algorithm, material } = key;
    // A public key is not a secret.
    const again = algorithm !== "hmac-sha256" ? undefined : reseal(contextOf(id), material);
    if (again === undefined) return key;
    tx.send(sql`UPDATE client_keys SET material = ${Buffer.from(again)} WHERE id = ${id}`);
    written += 1;
    return { ...key, material: again };
  });
  writeSeal(tx, { ...client, keys });
  return written;
}

/**
 * The signed content of approvals, which is kept for as long as the approvals are. All signatures of a transaction are in one batch. Each
 * batch reads the table once, which a reseal can afford.
 */
async function resealApprovals(
  tx: Tx,
  afterId: string,
  reseal: Reseal,
  contexts: SubjectContexts,
): Promise<Batch> {
  const rows = await tx.query<{ tenantId: string; id: string; version: number; base: Buffer }>(sql`
    SELECT tenant_id AS "tenantId", transaction_id AS id, version, base FROM approval_signatures
    WHERE transaction_id IN (
      SELECT DISTINCT transaction_id FROM approval_signatures
      WHERE transaction_id > ${afterId} ORDER BY transaction_id LIMIT ${batchMax})
    ORDER BY transaction_id, version FOR UPDATE
  `);
  let written = 0;
  for (const { tenantId, id, version, base } of rows) {
    const again = reseal(contexts.current({ tenantId, id }), base, contexts.old(id));
    if (again === undefined) continue;
    tx.send(sql`
      UPDATE approval_signatures SET base = ${Buffer.from(again)}
      WHERE tenant_id = ${tenantId} AND transaction_id = ${id} AND version = ${version}
    `);
    written += 1;
  }
  return { written, lastId: rows.at(-1)?.id };
}

/** The same for decisions on change requests. */
async function resealChangeSignatures(
  tx: Tx,
  afterId: string,
  reseal: Reseal,
  contexts: SubjectContexts,
): Promise<Batch> {
  const rows = await tx.query<{ tenantId: string; id: string; version: number; base: Buffer }>(sql`
    SELECT tenant_id AS "tenantId", change_request_id AS id, version, base FROM change_signatures
    WHERE change_request_id IN (
      SELECT DISTINCT change_request_id FROM change_signatures
      WHERE change_request_id > ${afterId} ORDER BY change_request_id LIMIT ${batchMax})
    ORDER BY change_request_id, version FOR UPDATE
  `);
  let written = 0;
  for (const { tenantId, id, version, base } of rows) {
    const again = reseal(contexts.current({ tenantId, id }), base, contexts.old(id));
    if (again === undefined) continue;
    tx.send(sql`
      UPDATE change_signatures SET base = ${Buffer.from(again)}
      WHERE tenant_id = ${tenantId} AND change_request_id = ${id} AND version = ${version}
    `);
    written += 1;
  }
  return { written, lastId: rows.at(-1)?.id };
}
