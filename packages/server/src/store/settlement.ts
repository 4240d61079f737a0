import type { Balance, FailureCode } from "@bursar/domain";
import {
  type AccountKey,
  accountName,
  type ClaimedTransaction,
  type Settlement,
  type SettlementStore,
} from "../app/transactions/settlement.js";
import type { Database, Queryable, Transaction } from "./database.js";
import type { EventLog } from "./events.js";
import { idAt } from "./id-at.js";
import { sql } from "./sql.js";

interface ClaimRow extends Omit<ClaimedTransaction, "amount"> {
  amount: string;
}

interface AccountRow extends AccountKey {
  available: string;
  held: string;
}

/** The engine's transaction: claim, lock, decide, write. Each statement is set-based; what a batch costs does not grow by rounds. */
export function createSettlementStore(database: Database, log: EventLog): SettlementStore {
  return {
    settle: (limit, acceptedFrom, decide) =>
      database.transaction(async (transaction) => {
        const claimed = await claim(transaction, limit, acceptedFrom);
        if (claimed.length === 0) return [];
        const accounts = await lockAccounts(transaction, accountsOf(claimed));
        const settlements = decide(claimed, accounts);
        await write(transaction, log, settlements, accounts);
        return settlements.map(({ transaction: { tenantId, id } }) => ({ tenantId, id }));
      }),
  };
}

/**
 * Served by open_transactions_to_do. Rows that another engine holds are passed over. The wallets are locked against a freeze: one
 * that has been answered is obeyed, and one that comes now waits for this batch.
 */
async function claim(
  transaction: Queryable,
  limit: number,
  acceptedFrom: Date | undefined,
): Promise<ClaimedTransaction[]> {
  const rows = await transaction.query<ClaimRow>(sql`
    WITH claimed AS (
      SELECT tenant_id, id, version FROM open_transactions WHERE state = 'accepted' AND id >= ${idAt(acceptedFrom ?? new Date(0))}
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    SELECT t.tenant_id AS "tenantId", t.id, c.version, t.asset, t.amount, t.source_wallet_id AS "sourceWalletId",
      t.destination_wallet_id AS "destinationWalletId", t.expires_at AS "expiresAt", w.frozen AS "sourceIsFrozen", w.network
    FROM claimed c
    JOIN transactions t ON t.tenant_id = c.tenant_id AND t.id = c.id
    JOIN wallets w ON w.tenant_id = t.tenant_id AND w.id = t.source_wallet_id
    ORDER BY t.id FOR SHARE OF w
  `);
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

function accountsOf(claimed: readonly ClaimedTransaction[]): AccountKey[] {
  const keys = new Map<string, AccountKey>();
  for (const { tenantId, asset, sourceWalletId, destinationWalletId } of claimed) {
    for (const ownerId of [sourceWalletId, destinationWalletId]) {
      keys.set(accountName({ tenantId, ownerId, asset }), { tenantId, ownerId, asset });
    }
  }
  return [...keys.values()];
}

/** Locks accounts in the order of their keys, so that two engines never wait for each other. */
async function lockAccounts(
  transaction: Queryable,
  keys: readonly AccountKey[],
): Promise<Map<string, Balance>> {
  const wanted = sql`unnest(
    ${keys.map((key) => key.tenantId)}::uuid[], ${keys.map((key) => key.ownerId)}::uuid[], ${keys.map((key) => key.asset)}::text[]
  ) AS wanted (tenant_id, owner_id, asset)`;
  const lock = () =>
    transaction.query<AccountRow>(sql`
      SELECT a.tenant_id AS "tenantId", a.owner_id AS "ownerId", a.asset, a.available, a.held
      FROM ledger_accounts a JOIN ${wanted} USING (tenant_id, owner_id, asset)
      ORDER BY a.tenant_id, a.owner_id, a.asset FOR UPDATE OF a
    `);
  let rows = await lock();
  if (rows.length < keys.length) {
    // A zero row first, so that there is something to lock.
    await transaction.query(sql`
      INSERT INTO ledger_accounts (tenant_id, owner_id, asset, available, held)
      SELECT tenant_id, owner_id, asset, 0, 0 FROM ${wanted} ORDER BY tenant_id, owner_id, asset
      ON CONFLICT DO NOTHING
    `);
    rows = await lock();
  }
  return new Map(
    rows.map((row) => [accountName(row), { available: BigInt(row.available), held: BigInt(row.held) }]),
  );
}

async function write(
  transaction: Transaction,
  log: EventLog,
  settlements: readonly Settlement[],
  accounts: ReadonlyMap<string, Balance>,
): Promise<void> {
  writeAccounts(transaction, accounts);
  const moved = settlements.filter(({ decision }) => decision.moved > 0n);
  transaction.send(sql`
    INSERT INTO ledger_entries (tenant_id, transaction_id, line, debit_owner_id, credit_owner_id, asset, amount)
    SELECT tenant_id, transaction_id, 1, debit, credit, asset, amount FROM unnest(
      ${moved.map((s) => s.transaction.tenantId)}::uuid[], ${moved.map((s) => s.transaction.id)}::uuid[],
      ${moved.map((s) => s.transaction.sourceWalletId)}::uuid[], ${moved.map((s) => s.transaction.destinationWalletId)}::uuid[],
      ${moved.map((s) => s.transaction.asset)}::text[], ${moved.map((s) => s.decision.moved.toString())}::numeric[]
    ) AS moved (tenant_id, transaction_id, debit, credit, asset, amount)
  `);
  // Settling on the book is final: nothing stays open.
  transaction.send(sql`
    DELETE FROM open_transactions o USING unnest(
      ${settlements.map((s) => s.transaction.tenantId)}::uuid[], ${settlements.map((s) => s.transaction.id)}::uuid[]
    ) AS done (tenant_id, id) WHERE o.tenant_id = done.tenant_id AND o.id = done.id
  `);
  await log.append(
    transaction,
    settlements.map(({ transaction: settled, decision, occurredAt }) => ({
      tenantId: settled.tenantId,
      event: "transaction.updated" as const,
      subjectId: settled.id,
      version: decision.version,
      state: decision.state,
      previousState: "accepted",
      failureCode: decision.failure as FailureCode | null,
      occurredAt,
    })),
  );
}

function writeAccounts(transaction: Transaction, accounts: ReadonlyMap<string, Balance>): void {
  const rows = [...accounts].map(([name, { available, held }]) => {
    const [tenantId, ownerId, asset] = name.split(" ");
    return { tenantId, ownerId, asset, available: available.toString(), held: held.toString() };
  });
  transaction.send(sql`
    UPDATE ledger_accounts a SET available = changed.available, held = changed.held
    FROM unnest(
      ${rows.map((row) => row.tenantId)}::uuid[], ${rows.map((row) => row.ownerId)}::uuid[], ${rows.map((row) => row.asset)}::text[],
      ${rows.map((row) => row.available)}::numeric[], ${rows.map((row) => row.held)}::numeric[]
    ) AS changed (tenant_id, owner_id, asset, available, held)
    WHERE a.tenant_id = changed.tenant_id AND a.owner_id = changed.owner_id AND a.asset = changed.asset
  `);
}
