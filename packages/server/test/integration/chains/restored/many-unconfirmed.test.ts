import { afterAll, beforeAll, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { modelNetwork } from "../../../harness/chain/model-network.js";
import { createRestoredChain } from "../../../harness/chain/restored-chain.js";
import { eventually } from "../../../harness/eventually.js";

/* After a restore all wallets are unconfirmed, and one of them can have many nonces that the signer alone knows. */

let driven: DrivenChain;
let restored: ReturnType<typeof createRestoredChain>;
/** What the signer was asked about, in order. */
const asked: { walletId: string; nonce: number }[] = [];
/** Wallets that it has signed without end for, and those that it does not answer for yet. */
const endless = new Set<string>();
let isDown = true;

beforeAll(async () => {
  driven = await startDrivenChain();
  restored = createRestoredChain(driven);
  driven.ports.signer = {
    ...driven.honest.signer,
    signedFrom: async (wallets) => {
      if (isDown) throw new Error("the signer is down");
      asked.push(...wallets);
      return wallets.map(({ walletId, nonce }) =>
        endless.has(walletId) ? Array.from({ length: 256 }, (_, index) => signed(nonce + index)) : [],
      );
    },
  };
});
afterAll(() => driven.stop());

const signed = (nonce: number) => ({
  nonce,
  transactionId: `01900000-0000-7000-8000-${String(nonce).padStart(12, "0")}`,
});

it("wallets with payments that wait are confirmed before a hundred others, and a hot one is asked about once a look", async () => {
  await driven.database.query(sql`
    WITH others AS (
      INSERT INTO wallets (tenant_id, id, name, purpose, network, state, version, created_at, updated_at)
      SELECT ${driven.tenantId}, ('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid, 'other', 'treasury', ${modelNetwork},
        'active', 2, now(), now() FROM generate_series(1, 120) i
      RETURNING id)
    INSERT INTO chain_wallets (tenant_id, wallet_id, network, address, shown, confirmed_epoch)
    SELECT ${driven.tenantId}, id, ${modelNetwork}, '0xb' || lpad(right(id::text, 12), 39, '0'), '', 1 FROM others
  `);
  const [hot, paying] = [await driven.createFunded(), await driven.createFunded()];
  endless.add(hot.walletId);
  await restored.recover();
  await driven.pay(paying, outside, modelCoin, 10n);
  isDown = false;
  await restored.untilConfirmed(paying);
  expect(asked[0]?.walletId).toBe(paying.walletId);
  const ofHot = () => asked.filter(({ walletId }) => walletId === hot.walletId);
  await eventually(
    async () => ofHot().length,
    (count) => count >= 2,
  );
  // The first page shows that it is not confirmed.
  expect(new Set(ofHot().map(({ nonce }) => nonce))).toEqual(new Set([0]));
  const before = asked.length;
  driven.chain.useNonce(hot.address);
  await driven.settle();
  await eventually(
    () => driven.halts(),
    (halts) => halts.some(({ code }) => code === "NONCE_USED_ELSEWHERE"),
  );
  expect(asked.slice(before).filter(({ nonce }) => nonce > 0)).toEqual([]);
});
