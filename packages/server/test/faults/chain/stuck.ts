import { sql } from "../../../src/store/core/sql.js";
import { answered, type ProofWorld } from "./proof-world.js";

const shownMax = 40;

/** Wallets that do not send any more, and why. No fault of the proof is a reason to halt one. */
export async function haltedWallets({ database }: ProofWorld): Promise<string[]> {
  const rows = await answered(() =>
    database.query<{ address: string; reason: string }>(
      sql`SELECT address, halted_reason AS reason FROM chain_wallets WHERE halted_reason IS NOT NULL`,
    ),
  );
  return rows.map(({ address, reason }) => `${address}: ${reason}`);
}

/** What is open and what could hold it up, a line each, so that a proof which does not end says why. */
export async function describeOpen({ database, chain }: ProofWorld): Promise<string> {
  const open = await answered(() =>
    database.query<object>(sql`
      SELECT t.id, t.kind, o.state, o.attempts, o.last_error, o.retry_at, o.cancel_requested, p.stage, p.nonce, p.attempt, p.wanted,
        p.purpose, p.max_fee, p.terms_number, p.included_hash, p.block_number, w.address AS sender, w.next_nonce, w.final_nonce,
        w.halted_reason, d.state AS deposit, d.block_number AS deposit_block, d.left_number
      FROM open_transactions o
      JOIN transactions t ON t.tenant_id = o.tenant_id AND t.id = o.id
      LEFT JOIN chain_payments p ON p.tenant_id = o.tenant_id AND p.transaction_id = o.id
      LEFT JOIN chain_wallets w ON w.tenant_id = p.tenant_id AND w.wallet_id = p.wallet_id
      LEFT JOIN chain_deposits d ON d.tenant_id = o.tenant_id AND d.transaction_id = o.id
      ORDER BY t.id LIMIT ${shownMax}
    `),
  );
  const networks = await answered(() => database.query<object>(sql`SELECT * FROM networks`));
  const status = await chain.status();
  const pool = await chain.listPool();
  return [
    ...open.map((row) => `open: ${JSON.stringify(withoutNulls(row))}`),
    ...networks.map((row) => `network: ${JSON.stringify(withoutNulls(row))}`),
    `chain: ${JSON.stringify(status)}`,
    ...pool.slice(0, shownMax).map((one) => `pool: ${JSON.stringify(one)}`),
  ].join("\n");
}

function withoutNulls(row: object): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}
