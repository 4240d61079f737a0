import type {
  AssignedPayment,
  AttemptTerms,
  ChainUnit,
  Inclusion,
  NumberedTerms,
  StoredAttempt,
} from "../../app/chain/chain-store.js";
import type { TransactionKey } from "../../app/transactions/settlement.js";
import { requireKeys, type Tx } from "../core/database.js";
import { listKeys, locateRows } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";
import { macOfTerms } from "../transactions/transaction-integrity.js";

/* Every row is found by the primary key; all of them were locked before. */

const isPayment = sql`r.tenant_id = given.tenant_id AND r.transaction_id = given.id`;
const isSender = sql`r.tenant_id = given.tenant_id AND r.wallet_id = given.wallet_id`;

function locatePayments(given: Statement): Statement {
  return locateRows(sql`chain_payments`, given, isPayment);
}

export function assign(
  tx: Tx,
  payments: readonly AssignedPayment[],
  headNumber: number,
  assignedAt: Date,
): void {
  if (payments.length === 0) return;
  const column = <T>(pick: (payment: AssignedPayment) => T) => payments.map(pick);
  const { keyId, macs } = sealTerms(
    tx,
    payments.map(({ terms, ...payment }) => ({
      ...payment,
      number: 1,
      terms: { ...terms, purpose: "payment" as const },
    })),
  );
  tx.send(sql`
    UPDATE chain_payments p SET stage = 'assigned', nonce = given.nonce, wanted = 1, purpose = 'payment',
      gas_limit = given.gas_limit, data_fee = given.data_fee, max_fee = given.max_fee, max_tip = given.max_tip,
      terms_number = ${headNumber}, terms_key_id = ${keyId}, terms_mac = decode(given.mac, 'hex'), assigned_at = ${assignedAt}
    FROM ${locatePayments(sql`unnest(
      ${column(({ tenantId }) => tenantId)}::uuid[], ${column(({ id }) => id)}::uuid[], ${column(({ nonce }) => nonce)}::bigint[],
      ${column(({ terms }) => terms.gasLimit)}::numeric[], ${column(({ terms }) => terms.dataFee)}::numeric[],
      ${column(({ terms }) => terms.maxFeePerGas)}::numeric[], ${column(({ terms }) => terms.maxPriorityFeePerGas)}::numeric[],
      ${macs}::text[]
    ) AS given (tenant_id, id, nonce, gas_limit, data_fee, max_fee, max_tip, mac)`)} AS given
    WHERE p.ctid = given.place AND p.stage = 'ready'
  `);
  raiseNonces(tx, payments, sql`next_nonce`);
}

/** The MACs as hexadecimal digits. */
function sealTerms(tx: Tx, payments: readonly NumberedTerms[]): { keyId: string; macs: string[] } {
  const keys = requireKeys(tx);
  const macs = payments.map(({ tenantId, id, number, terms }) =>
    macOfTerms(keys, { tenantId, id, number, ...terms }).mac.toString("hex"),
  );
  return { keyId: keys.currentId, macs };
}

/** Raises one of the nonces of senders above those of these payments. */
function raiseNonces(
  tx: Tx,
  payments: readonly { tenantId: string; walletId: string; nonce: number }[],
  nonce: Statement,
): void {
  const highest = new Map<string, (typeof payments)[number]>();
  for (const payment of payments)
    if (payment.nonce >= (highest.get(payment.walletId)?.nonce ?? 0)) highest.set(payment.walletId, payment);
  const senders = [...highest.values()];
  if (senders.length === 0) return;
  tx.send(sql`
    UPDATE chain_wallets w SET ${nonce} = greatest(w.${nonce}, given.nonce + 1)
    FROM ${locateRows(
      sql`chain_wallets`,
      sql`unnest(
        ${senders.map(({ tenantId }) => tenantId)}::uuid[], ${senders.map(({ walletId }) => walletId)}::uuid[],
        ${senders.map((one) => one.nonce)}::bigint[]) AS given (tenant_id, wallet_id, nonce)`,
      isSender,
    )} AS given WHERE w.ctid = given.place
  `);
}

export function setTerms(tx: Tx, payments: readonly NumberedTerms[], headNumber: number): void {
  if (payments.length === 0) return;
  const { keyId, macs } = sealTerms(tx, payments);
  const column = <T>(pick: (terms: AttemptTerms) => T) => payments.map(({ terms }) => pick(terms));
  tx.send(sql`
    UPDATE chain_payments p SET wanted = p.attempt + 1, purpose = given.purpose, gas_limit = given.gas_limit,
      data_fee = given.data_fee, max_fee = given.max_fee, max_tip = given.max_tip, terms_number = ${headNumber},
      terms_key_id = ${keyId}, terms_mac = decode(given.mac, 'hex')
    FROM ${locatePayments(sql`unnest(
      ${payments.map(({ tenantId }) => tenantId)}::uuid[], ${payments.map(({ id }) => id)}::uuid[],
      ${column(({ purpose }) => purpose)}::text[], ${column(({ gasLimit }) => gasLimit)}::numeric[],
      ${column(({ dataFee }) => dataFee)}::numeric[], ${column(({ maxFeePerGas }) => maxFeePerGas)}::numeric[],
      ${column(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas)}::numeric[], ${macs}::text[]
    ) AS given (tenant_id, id, purpose, gas_limit, data_fee, max_fee, max_tip, mac)`)} AS given
    WHERE p.ctid = given.place
  `);
}

export function keepTerms(tx: Tx, keys: readonly TransactionKey[], headNumber: number): void {
  if (keys.length === 0) return;
  tx.send(sql`
    UPDATE chain_payments p SET wanted = p.attempt, terms_number = ${headNumber}
    FROM ${locatePayments(listKeys(keys))} AS given WHERE p.ctid = given.place
  `);
}

/** What was requested is done when its bytes are stored. From then on it is sent, and can be stuck: not while it waits for its signature. */
export function storeAttempts(
  tx: Tx,
  network: string,
  attempts: readonly StoredAttempt[],
  headNumber: number,
  storedAt: Date,
): void {
  if (attempts.length === 0) return;
  const column = <T>(pick: (attempt: StoredAttempt) => T) => attempts.map(pick);
  tx.send(sql`
    INSERT INTO chain_attempts (network, hash, tenant_id, transaction_id, number, purpose, bytes, gas_limit, max_fee, max_tip, stored_at)
    SELECT ${network}, hash, tenant_id, id, number, purpose, decode(bytes, 'hex'), gas_limit, max_fee, max_tip, ${storedAt}
    FROM unnest(
      ${column(({ tenantId }) => tenantId)}::uuid[], ${column(({ id }) => id)}::uuid[], ${column(({ number }) => number)}::smallint[],
      ${column(({ hash }) => hash)}::text[], ${column(({ bytes }) => bytes.slice(2))}::text[],
      ${column(({ terms }) => terms.purpose)}::text[], ${column(({ terms }) => terms.gasLimit)}::numeric[],
      ${column(({ terms }) => terms.maxFeePerGas)}::numeric[], ${column(({ terms }) => terms.maxPriorityFeePerGas)}::numeric[]
    ) AS given (tenant_id, id, number, hash, bytes, purpose, gas_limit, max_fee, max_tip)
  `);
  tx.send(sql`
    UPDATE chain_payments p SET attempt = p.wanted, speed_up_requested = false, terms_number = ${headNumber},
      stage = CASE p.stage WHEN 'assigned' THEN 'signed' ELSE p.stage END
    FROM ${locatePayments(listKeys(attempts))} AS given WHERE p.ctid = given.place
  `);
}

export function includePayments(tx: Tx, inclusions: readonly Inclusion[]): void {
  if (inclusions.length === 0) return;
  const column = <T>(pick: (inclusion: Inclusion) => T) => inclusions.map(pick);
  tx.send(sql`
    UPDATE chain_payments p SET stage = 'included', included_hash = given.hash, block_number = given.block_number,
      block_hash = given.block_hash, succeeded = given.succeeded, fee = given.fee
    FROM ${locatePayments(sql`unnest(
      ${column(({ tenantId }) => tenantId)}::uuid[], ${column(({ id }) => id)}::uuid[], ${column(({ hash }) => hash)}::text[],
      ${column(({ block }) => block.number)}::bigint[], ${column(({ block }) => block.hash)}::text[],
      ${column(({ succeeded }) => succeeded)}::boolean[], ${column(({ fee }) => fee)}::numeric[]
    ) AS given (tenant_id, id, hash, block_number, block_hash, succeeded, fee)`)} AS given
    WHERE p.ctid = given.place
  `);
}

export function excludePayments(tx: Tx, keys: readonly TransactionKey[], headNumber: number): void {
  if (keys.length === 0) return;
  tx.send(sql`
    UPDATE chain_payments p SET stage = 'signed', included_hash = NULL, block_number = NULL, block_hash = NULL,
      succeeded = NULL, fee = NULL, terms_number = ${headNumber}
    FROM ${locatePayments(listKeys(keys))} AS given WHERE p.ctid = given.place
  `);
}

export function endPayments(tx: Tx, payments: Parameters<ChainUnit["endPayments"]>[0]): void {
  if (payments.length === 0) return;
  tx.send(sql`
    UPDATE chain_payments p SET stage = 'over' FROM ${locatePayments(listKeys(payments))} AS given WHERE p.ctid = given.place
  `);
  const used = payments.flatMap(({ tenantId, walletId, nonce }) =>
    nonce === null ? [] : [{ tenantId, walletId, nonce }],
  );
  raiseNonces(tx, used, sql`final_nonce`);
}

/** Served by the primary key. */
export function touchWallets(tx: Tx, wallets: Parameters<ChainUnit["touchWallets"]>[0]): void {
  if (wallets.length === 0) return;
  tx.send(sql`
    UPDATE chain_wallets w SET compared_number = -1
    FROM ${locateRows(
      sql`chain_wallets`,
      sql`unnest(
        ${wallets.map(({ tenantId }) => tenantId)}::uuid[], ${wallets.map(({ walletId }) => walletId)}::uuid[]
      ) AS given (tenant_id, wallet_id)`,
      isSender,
    )} AS given WHERE w.ctid = given.place
  `);
}
