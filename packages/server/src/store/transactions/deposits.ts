import type { DepositStore } from "../../app/deposits/deposit.js";
import type { NewDeposit } from "../../app/transactions/settlement.js";
import { appendAudit } from "../access/audit.js";
import { reviewCaller } from "../access/review-caller.js";
import { readAddress, sealedAddress, type WithSealedAddress } from "../chain/wallets/wallet-integrity.js";
import { type Database, type KeyedQueryable, requireKeys } from "../core/database.js";
import { recordOperatorRequest } from "../core/operator-requests.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { lockAccounts, withLedger } from "../ledger/ledger.js";
import { macOfDeposit } from "./transaction-integrity.js";
import { type ObserveUnit, writeSettlements } from "./write-settlements.js";

/** The SQL behind deposits to the book, of clients and of the operator. */
export function createDepositStore(
  database: Database,
  log: EventLog,
  observeUnit: ObserveUnit,
): DepositStore {
  return {
    unitOfWork: (work) =>
      withLedger(database, (tx) => {
        const onWriting = observeUnit();
        return work({
          reviewCaller: (tenantId, caller) => reviewCaller(tx, tenantId, caller),
          // Served by the primary key.
          findNetwork: async (tenantId, walletId) => {
            const [row] = await tx.query<{ network: string }>(
              sql`SELECT network FROM wallets WHERE tenant_id = ${tenantId} AND id = ${walletId}`,
            );
            return row?.network;
          },
          recordRequest: (request, result) => recordOperatorRequest(tx, request, result),
          insertDeposits: (deposits) => insertDeposits(tx, deposits),
          lockAccounts: (accounts) => lockAccounts(tx, accounts),
          appendAudit: (entry) => appendAudit(tx, [entry]),
          write: async (settlements, balances) => {
            await onWriting(tx, settlements);
            await writeSettlements(tx, log, settlements, balances);
          },
        });
      }),
  };
}

interface WalletToFund {
  tenantId: string;
  network: string;
  /** With its checksum; null for a wallet of the book, and while it is created. */
  address: string | null;
}

/** The wallet that an operator names by its id alone. */
export async function findWalletToFund(
  database: Database,
  walletId: string,
): Promise<WalletToFund | undefined> {
  const [row] = await database.query<WithSealedAddress<WalletToFund>>(sql`
    SELECT w.tenant_id AS "tenantId", w.network, CASE WHEN c.wallet_id IS NOT NULL THEN ${sealedAddress} END AS sealed
    FROM wallets w LEFT JOIN chain_wallets c ON c.tenant_id = w.tenant_id AND c.wallet_id = w.id
    WHERE w.id = ${walletId}
  `);
  if (row === undefined) return undefined;
  const { sealed, ...wallet } = row;
  const { tenantId } = wallet;
  return { ...wallet, address: readAddress(database, { tenantId, walletId }, sealed)?.shown ?? null };
}

/** Conflicts are served by the unique key. In its order, so that two processes that see the same block do not wait for each other. */
export async function insertDeposits(
  tx: KeyedQueryable,
  deposits: readonly NewDeposit[],
): Promise<ReadonlySet<string>> {
  const keys = requireKeys(tx);
  const ordered = deposits.toSorted((a, b) => (a.idempotencyKey < b.idempotencyKey ? -1 : 1));
  const column = <T>(pick: (deposit: NewDeposit) => T) => ordered.map(pick);
  const macOf = (deposit: NewDeposit) =>
    macOfDeposit(keys, { ...deposit, amount: deposit.amount.toString() }).mac.toString("hex");
  const rows = await tx.query<{ id: string }>(sql`
    WITH inserted AS (
      INSERT INTO transactions
        (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount, kind, source_account_id,
         source_address, destination_account_id, metadata, created_at, key_id, mac)
      SELECT tenant_id, id, key, hash, client, reference, asset, amount, 'deposit', source, address, destination, metadata, created_at,
        ${keys.currentId}, decode(mac, 'hex')
      FROM unnest(
        ${column((d) => d.tenantId)}::uuid[], ${column((d) => d.id)}::uuid[], ${column((d) => d.idempotencyKey)}::text[],
        ${column((d) => `\\x${d.requestHash}`)}::bytea[], ${column((d) => d.clientId)}::uuid[], ${column((d) => d.reference)}::text[],
        ${column((d) => d.asset)}::text[], ${column((d) => d.amount)}::numeric[], ${column((d) => d.sourceAccountId)}::uuid[],
        ${column((d) => d.sourceAddress)}::text[], ${column((d) => d.destinationAccountId)}::uuid[],
        ${column((d) => (d.metadata === null ? null : JSON.stringify(d.metadata)))}::jsonb[],
        ${column((d) => d.createdAt)}::timestamptz[], ${column(macOf)}::text[]
      ) AS seen (tenant_id, id, key, hash, client, reference, asset, amount, source, address, destination, metadata, created_at, mac)
      ON CONFLICT (tenant_id, idempotency_key) DO NOTHING
      RETURNING tenant_id, id
    )
    INSERT INTO open_transactions (tenant_id, id, state, version) SELECT tenant_id, id, 'accepted', 1 FROM inserted RETURNING id
  `);
  return new Set(rows.map(({ id }) => id));
}
