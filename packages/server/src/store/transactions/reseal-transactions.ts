import type { ApprovalRequirement } from "@bursar/domain";
import type { TransactionKey } from "../../app/transactions/settlement.js";
import type { RowMac } from "../access/row-integrity.js";
import { type Database, requireKeys, type Tx } from "../core/database.js";
import { locateRows } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";
import {
  findSealed,
  isSignedByKey,
  macOfApproval,
  publicKeyOfSignature,
  type SealedApproval,
} from "./approval-integrity.js";
import {
  areTermsAuthentic,
  findSealedRequirement,
  isTransactionAuthentic,
  macOfBegun,
  macOfRequirement,
  macOfTerms,
  macOfTransaction,
  purposeOfBegun,
  type SealedTerms,
  type SealedTransaction,
  sealedColumns,
} from "./transaction-integrity.js";

/** An open transaction, with the other rows about it that have a MAC. */
interface OpenRow extends SealedTransaction, RowMac {
  requirement: ApprovalRequirement | null;
  judgedAt: Date | null;
  policyVersion: number;
  rule: string;
  requirementKeyId: string | null;
  requirementMac: Uint8Array | null;
  begunWalletId: string | null;
  begunKeyId: string | null;
  begunMac: Uint8Array | null;
  /** Of the attempt that waits for a signature. */
  terms: { [Name in Exclude<keyof SealedTerms, keyof TransactionKey>]: string } | null;
  termsKeyId: string | null;
  termsMac: Uint8Array | null;
}

interface OpenKey {
  tenantId: string;
  id: string;
}

const batchMax = 200;
const leastId = "00000000-0000-0000-0000-000000000000";

/**
 * Writes the MACs of open transactions, and of the rows about them, with the current key; returns how many. What has ended is not verified any
 * more. A row whose MAC is wrong keeps it: a new one would hide that it was tampered with. In the order of the primary key, in batches, each of
 * which locks only its rows.
 */
export async function resealTransactions(database: Database): Promise<number> {
  let written = 0;
  let after: OpenKey | undefined = { tenantId: leastId, id: leastId };
  while (after !== undefined) {
    const from: OpenKey = after;
    const rows: OpenKey[] = await database.transaction(async (tx) => {
      const open = await listOpen(tx, from);
      const approvals = await listApprovals(tx, open);
      written += resealOpen(tx, open) + resealApprovals(tx, approvals);
      return open;
    });
    after = rows.at(-1);
  }
  return written;
}

/** Served by primary keys. */
function listOpen(tx: Tx, after: OpenKey): Promise<OpenRow[]> {
  return tx.query<OpenRow>(sql`
    SELECT ${sealedColumns}, coalesce(w.network, '') AS network, o.needs_judgement AS "needsJudgement",
      j.requirement, j.judged_at AS "judgedAt", j.policy_version AS "policyVersion", j.rule, j.key_id AS "requirementKeyId", j.mac AS "requirementMac",
      p.wallet_id AS "begunWalletId", p.key_id AS "begunKeyId", p.mac AS "begunMac",
      p.terms_key_id AS "termsKeyId", p.terms_mac AS "termsMac", CASE WHEN p.wanted > p.attempt THEN jsonb_build_object(
        'number', p.wanted::text, 'purpose', p.purpose, 'gasLimit', p.gas_limit::text, 'maxFeePerGas', p.max_fee::text,
        'maxPriorityFeePerGas', p.max_tip::text) END AS terms
    FROM (
      SELECT tenant_id, id, needs_judgement FROM open_transactions
      WHERE (tenant_id, id) > (${after.tenantId}::uuid, ${after.id}::uuid)
      ORDER BY tenant_id, id LIMIT ${batchMax} FOR UPDATE) AS o
    JOIN transactions t ON t.tenant_id = o.tenant_id AND t.id = o.id
    LEFT JOIN wallets w ON w.tenant_id = t.tenant_id AND w.id = t.source_account_id
    LEFT JOIN judgements j ON j.tenant_id = o.tenant_id AND j.transaction_id = o.id AND j.requirement IS NOT NULL
    LEFT JOIN chain_payments p ON p.tenant_id = o.tenant_id AND p.transaction_id = o.id
    ORDER BY o.tenant_id, o.id
  `);
}

/** Served by the primary key. */
function listApprovals(tx: Tx, open: readonly OpenKey[]): Promise<(SealedApproval & RowMac)[]> {
  return tx.query<SealedApproval & RowMac>(sql`
    SELECT a.tenant_id AS "tenantId", a.transaction_id AS "transactionId", a.version, a.client_id AS "clientId", a.decision,
      encode(a.digest, 'hex') AS digest, a.comment, a.decided_at AS "decidedAt", a.key_id AS "keyId", a.mac, ${isSignedByKey} AS "isSigned",
      ${publicKeyOfSignature} AS "publicKey"
    FROM unnest(${open.map(({ tenantId }) => tenantId)}::uuid[], ${open.map(({ id }) => id)}::uuid[]) AS o (tenant_id, id)
    JOIN approvals a ON a.tenant_id = o.tenant_id AND a.transaction_id = o.id
  `);
}

interface NewMac extends OpenKey {
  version?: number;
  keyId: string;
  mac: Buffer;
}

function resealOpen(tx: Tx, open: readonly OpenRow[]): number {
  const keys = requireKeys(tx);
  const isOld = (keyId: string | null) => keyId !== keys.currentId;
  const transactions: NewMac[] = [];
  const requirements: NewMac[] = [];
  const begun: NewMac[] = [];
  const terms: NewMac[] = [];
  for (const row of open) {
    const { tenantId, id, requirement, judgedAt, begunWalletId: walletId } = row;
    if (isOld(row.keyId) && isTransactionAuthentic(keys, row))
      transactions.push({ tenantId, id, ...macOfTransaction(keys, row) });
    if (requirement !== null && judgedAt !== null && isOld(row.requirementKeyId)) {
      const { policyVersion, rule } = row;
      const judgement = { tenantId, id, requirement, judgedAt, judgedBy: { policyVersion, rule } };
      const stored = { keyId: row.requirementKeyId, mac: row.requirementMac };
      const sealed = findSealedRequirement(keys, judgement, stored);
      if (sealed !== undefined) requirements.push({ tenantId, id, ...macOfRequirement(keys, sealed) });
    }
    if (walletId !== null && isOld(row.begunKeyId)) {
      const payment = { tenantId, id, walletId };
      const purpose = purposeOfBegun(keys, payment, { keyId: row.begunKeyId, mac: row.begunMac });
      if (purpose !== undefined) begun.push({ tenantId, id, ...macOfBegun(keys, payment, purpose) });
    }
    if (row.terms !== null && isOld(row.termsKeyId)) {
      const sealed = readTerms({ tenantId, id }, row.terms);
      if (areTermsAuthentic(keys, sealed, { keyId: row.termsKeyId, mac: row.termsMac }))
        terms.push({ tenantId, id, ...macOfTerms(keys, sealed) });
    }
  }
  writeMacs(tx, sql`transactions`, sql`r.id = given.id`, transactions);
  writeMacs(tx, sql`judgements`, sql`r.transaction_id = given.id`, requirements);
  writeMacs(tx, sql`chain_payments`, sql`r.transaction_id = given.id`, begun);
  writeMacs(tx, sql`chain_payments`, sql`r.transaction_id = given.id`, terms, sql`terms_`);
  return transactions.length + requirements.length + begun.length + terms.length;
}

function readTerms(key: TransactionKey, terms: NonNullable<OpenRow["terms"]>): SealedTerms {
  const { number, purpose, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = terms;
  const fees = { maxFeePerGas: BigInt(maxFeePerGas), maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas) };
  return { ...key, number: Number(number), purpose, gasLimit: BigInt(gasLimit), ...fees };
}

function resealApprovals(tx: Tx, approvals: readonly (SealedApproval & RowMac)[]): number {
  const keys = requireKeys(tx);
  const written = approvals.flatMap(({ keyId, mac, ...approval }): NewMac[] => {
    if (keyId === keys.currentId) return [];
    // A public key that the MAC did not cover is not vouched for by the new one either.
    const sealed = findSealed(keys, "approval", approval, { keyId, mac });
    if (sealed === undefined) return [];
    const { tenantId, transactionId: id, version } = sealed;
    return [{ tenantId, id, version, ...macOfApproval(keys, sealed) }];
  });
  writeMacs(tx, sql`approvals`, sql`r.transaction_id = given.id AND r.version = given.version`, written);
  return written.length;
}

/** Served by the primary keys. */
function writeMacs(
  tx: Tx,
  table: Statement,
  key: Statement,
  macs: readonly NewMac[],
  prefix: Statement = sql``,
): void {
  const [first] = macs;
  if (first === undefined) return;
  tx.send(sql`
    UPDATE ${table} r SET ${prefix}key_id = ${first.keyId}, ${prefix}mac = decode(given.mac, 'hex')
    FROM ${locateRows(
      table,
      sql`unnest(${macs.map(({ tenantId }) => tenantId)}::uuid[], ${macs.map(({ id }) => id)}::uuid[],
        ${macs.map(({ version = 0 }) => version)}::integer[], ${macs.map(({ mac }) => mac.toString("hex"))}::text[]
      ) AS given (tenant_id, id, version, mac)`,
      sql`r.tenant_id = given.tenant_id AND ${key}`,
    )} AS given WHERE r.ctid = given.place
  `);
}
