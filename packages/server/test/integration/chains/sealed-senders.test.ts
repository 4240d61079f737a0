import { afterEach, beforeEach, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { type DrivenChain, outside, startDrivenChain } from "../../harness/chain/driven-chain.js";
import { modelCoin } from "../../harness/chain/model-chain.js";
import { eventually } from "../../harness/eventually.js";

let driven: DrivenChain;
beforeEach(async () => {
  driven = await startDrivenChain();
});
afterEach(() => driven.stop());

it("a payment that becomes final while its sender's row is sealed again raises the final nonce", async () => {
  const wallet = await driven.createFunded();
  const paid = await driven.pay(wallet, outside, modelCoin, 2n);
  await eventually(
    async () => driven.chain.pool().some(({ intent }) => intent?.transactionId === paid),
    (isSent) => isSent,
  );
  await driven.database.transaction(async (tx) => {
    // As when the master key is changed.
    await tx.query(sql`
      UPDATE chain_wallets SET key_id = key_id WHERE tenant_id = ${wallet.tenantId} AND wallet_id = ${wallet.walletId}`);
    driven.mine(5);
    await eventually(
      () =>
        tx.query(sql`
          SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`),
      ({ length }) => length > 0,
    );
  });
  await driven.until(paid, "completed");
  const [row] = await driven.database.query<{ nonce: string }>(
    sql`SELECT final_nonce AS nonce FROM chain_wallets WHERE wallet_id = ${wallet.walletId}`,
  );
  expect(row?.nonce).toBe("1");
  // The comparison that follows finds the nonce that the books have.
  await eventually(
    () =>
      driven.database.query(sql`
        SELECT FROM chain_wallets WHERE wallet_id = ${wallet.walletId} AND (halted_at IS NOT NULL OR compared_number >= (
          SELECT block_number FROM chain_payments WHERE transaction_id = ${paid}))`),
    ({ length }) => length > 0,
  );
  expect([await driven.halts(), driven.errors]).toEqual([[], []]);
});
