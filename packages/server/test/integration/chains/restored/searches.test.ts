import { expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { startRestoredChain } from "../../../harness/chain/start-restored-chain.js";
import { eventually } from "../../../harness/eventually.js";

/* How payments are looked for that were made in the commits that were lost. */

const { driven, restored, adopted } = await startRestoredChain();

/** Counts the searches, in sum and between two reads of all nonces: a step reads them before it searches. */
function countSearches() {
  const counted = { sum: 0, ofStep: 0, most: 0 };
  const { node } = driven.ports;
  driven.ports.node = {
    ...node,
    heads: () => {
      counted.ofStep = 0;
      return node.heads();
    },
    findNonceUse: (...given) => {
      counted.sum += 1;
      counted.ofStep += 1;
      counted.most = Math.max(counted.most, counted.ofStep);
      return node.findNonceUse(...given);
    },
  };
  return counted;
}

async function forgetSome(count: number): Promise<ChainWallet> {
  const wallet = await driven.createFunded();
  for (let nonce = 0; nonce < count; nonce++) {
    const id = await driven.accept(wallet, outside, modelCoin, 20n);
    driven.chain.send(await adopted.forget(wallet, id, nonce));
    await driven.begin(wallet, id);
  }
  return wallet;
}

it("looks for no more in a step than for 128, of all wallets", async () => {
  const counts = [29, 28, 28, 28, 28];
  adopted.estimateNothing();
  const wallets: ChainWallet[] = [];
  for (const count of counts) wallets.push(await forgetSome(count));
  for (const wallet of wallets) await adopted.untilHalted(wallet);
  const counted = countSearches();
  // A comparison that runs would take some of them from the others.
  await driven.settle();
  await eventually(
    () =>
      driven.database.query(sql`
      SELECT FROM chain_wallets w JOIN networks n ON n.network = w.network WHERE w.compared_number < n.settled_number - 16
        OR w.compared_number < 0`),
    (rows) => rows.length === 0,
  );
  // As the operator states them, but all at once: one step sees them together.
  await driven.database.query(sql`
    UPDATE chain_wallets w SET stated_nonce = given.nonce, compared_number = -1
    FROM unnest(${wallets.map(({ walletId }) => walletId)}::uuid[], ${counts}::bigint[]) AS given (id, nonce)
    WHERE w.wallet_id = given.id
  `);
  for (const wallet of wallets)
    await eventually(
      async () => {
        driven.mine();
        return await adopted.readWallet(wallet);
      },
      ({ code }) => code === null,
    );
  expect(counted.sum).toBe(counts.reduce((sum, count) => sum + count));
  expect(counted.most).toBeLessThanOrEqual(128);
});

it("does not look again for what was found while the books do not have the fee", async () => {
  const coins = 1_000_000_000_000n;
  const wallet = await driven.createFunded(coins);
  adopted.estimateNothing();
  const id = await driven.accept(wallet, outside, modelCoin, 20n);
  driven.chain.send(await adopted.forget(wallet, id));
  await driven.begin(wallet, id);
  await driven.begin(wallet, await driven.accept(wallet, outside, modelCoin, coins - 20n));
  await adopted.untilHalted(wallet);
  const counted = countSearches();
  await adopted.adopt(wallet);
  for (const _ of ["once", "twice", "thrice"]) {
    driven.mine(17);
    await driven.settle();
  }
  await eventually(async () => counted.sum, Boolean, 20_000);
  expect(await adopted.readWallet(wallet)).toMatchObject({ stated: "1", finalNonce: "0" });
  driven.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount: coins }]);
  await eventually(
    async () => {
      driven.mine(17);
      return await driven.read(id);
    },
    ({ state }) => state === "completed",
  );
  expect(counted.sum).toBe(1);
});

it("looks again if the wallet was resumed in between", async () => {
  const wallet = await driven.createFunded();
  const id = await driven.accept(wallet, outside, modelCoin, 20n);
  driven.chain.send(await adopted.forget(wallet, id));
  await adopted.untilHalted(wallet);
  const counted = countSearches();
  // It was made, and has not begun: the wallet stays halted.
  expect(await adopted.refuseAdoption(wallet, 1)).toContain("was paid");
  expect(await adopted.refuseAdoption(wallet, 1)).toContain("was paid");
  expect(counted.sum).toBe(1);
  await adopted.resume(wallet);
  await adopted.untilHalted(wallet);
  expect(await adopted.refuseAdoption(wallet, 1)).toContain("was paid");
  expect(counted.sum).toBe(2);
});

it("finds what the signer has signed behind more than a thousand nonces of another program", async () => {
  const others = 1030;
  const wallet = await driven.createFunded();
  adopted.estimateNothing();
  const id = await driven.accept(wallet, outside, modelCoin, 20n);
  const bytes = await adopted.forget(wallet, id, others);
  await driven.begin(wallet, id);
  for (let nonce = 0; nonce < others; nonce++) driven.chain.useNonce(wallet.address);
  driven.chain.send(bytes);
  await adopted.untilHalted(wallet);
  await adopted.untilResumed(wallet, others + 1);
  expect((await driven.read(id)).state).toBe("completed");
});

it("locks what it records and what it cancels in one order", async () => {
  const wallet = await driven.createFunded();
  adopted.estimateNothing();
  const paid = await driven.accept(wallet, outside, modelCoin, 20n);
  const taken = await driven.accept(wallet, outside, modelCoin, 20n);
  const bytes = await adopted.forget(wallet, paid);
  await adopted.forget(wallet, taken, 1);
  await driven.begin(wallet, paid);
  driven.chain.send(bytes);
  driven.mine();
  driven.chain.useNonce(wallet.address);
  await adopted.untilHalted(wallet);
  driven.errors.splice(0);
  // As a client that cancels both at once.
  await driven.keyed.transaction(async (tx) => {
    const lock = (id: string) => tx.query(sql`SELECT FROM open_transactions WHERE id = ${id} FOR UPDATE`);
    await lock(paid);
    await adopted.adopt(wallet, 2);
    await eventually(
      () => driven.database.query(sql`SELECT FROM pg_locks WHERE NOT granted`),
      (waiting) => waiting.length > 0,
      20_000,
    );
    await lock(taken);
  });
  await adopted.untilResumed(wallet, 2);
  await restored.look(wallet, taken);
  expect((await driven.read(paid)).state).toBe("completed");
  expect(driven.errors).toEqual([]);
});
