import { expect, it } from "vitest";
import { readNetworks } from "../../../../src/store/chain/read-networks.js";
import { sql } from "../../../../src/store/core/sql.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { modelNetwork } from "../../../harness/chain/model-network.js";
import { startRestoredChain } from "../../../harness/chain/start-restored-chain.js";
import { eventually } from "../../../harness/eventually.js";

/* A restore that nothing has noticed, until the signer shows it with one wallet. Another one has lost a payment too. */

const { driven, restored, adopted } = await startRestoredChain();

/** A payment that has not begun, and that was signed and sent with nonce 0 in the commits that were lost. */
async function loseOne(): Promise<{ wallet: ChainWallet; id: string; bytes: string }> {
  const wallet = await driven.createFunded();
  const id = await driven.accept(wallet, outside, modelCoin, 20n);
  return { wallet, id, bytes: await restored.signLost(wallet, id) };
}

const untilDoubted = (wallet: ChainWallet) =>
  eventually(
    () => restored.isConfirmed(wallet),
    (isConfirmed) => isConfirmed === false,
    20_000,
  );

async function failToSign(): Promise<never> {
  throw new Error("It does not answer.");
}

/** The signer signs nothing, and answers what it has signed. Returns the wallets that it is asked about. */
function recordAsked(): string[] {
  const asked: string[] = [];
  driven.ports.signer = {
    sign: failToSign,
    signedFrom: (wallets) => {
      asked.push(...wallets.map(({ walletId }) => walletId));
      return driven.honest.signer.signedFrom(wallets);
    },
  };
  return asked;
}

/** What the first answer shows is written before the second question. */
const untilAskedTwice = (asked: readonly string[], wallet: ChainWallet) =>
  eventually(
    () => asked.filter((walletId) => walletId === wallet.walletId).length,
    (count) => count >= 2,
    20_000,
  );

async function countDoubts(): Promise<number> {
  const rows = await driven.database.query(sql`SELECT number FROM wallet_doubts`);
  return rows.length;
}

/** It may be in a pool. Ended here, it would be requested and paid again. */
async function expectEndsOnChain({ wallet, id }: { wallet: ChainWallet; id: string }): Promise<void> {
  await untilDoubted(wallet);
  await restored.cancel(wallet, id);
  await restored.look(wallet, id);
  await driven.inPool(1);
  await driven.settle();
  await driven.until(id, "cancelled");
  expect(await driven.nonceOf(id)).toBe(0);
}

it("a payment of another wallet does not end here after nonces of one were taken back", async () => {
  const other = await loseOne();
  const innocent = await driven.createFunded();
  const elsewhere = await driven.createWallet(driven.tenantId);
  await driven.database.query(
    sql`UPDATE chain_wallets SET network = 'eip155:99' WHERE wallet_id = ${elsewhere.walletId}`,
  );
  expect(await restored.isConfirmed(elsewhere)).toBe(true);
  const { wallet, id } = await loseOne();
  await driven.pay(wallet, outside, modelCoin, 30n);
  await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  expect((await adopted.readWallet(wallet)).reason).toContain("bursar recover");
  expect(await driven.nonceOf(id)).toBeNull();
  expect(driven.shortages).toContain("all wallets are doubted");
  expect(await readNetworks(driven.database, [modelNetwork])).toMatchObject([{ doubts: 1 }]);
  const entries = await driven.database.query(
    sql`SELECT object, code FROM audit_entries WHERE action = 'wallets.doubt'`,
  );
  expect(entries).toEqual([{ object: modelNetwork, code: "SIGNER_AHEAD" }]);
  // A wallet of another network, which nobody drives here, stays so.
  expect(await restored.isConfirmed(elsewhere)).toBe(false);
  await expectEndsOnChain(other);
  // One that has lost nothing is confirmed by itself, and pays.
  const paid = await driven.pay(innocent, outside, modelCoin, 10n);
  await driven.inPool(1);
  await driven.settle();
  await driven.until(paid, "completed");
  expect(await restored.isConfirmed(innocent)).toBe(true);
  expect(await restored.isConfirmed(elsewhere)).toBe(false);
});

it("nor after one was adopted whose payment the signer had signed", async () => {
  const other = await loseOne();
  const { wallet, id, bytes } = await loseOne();
  driven.chain.send(bytes);
  // A wallet that nothing has happened to is compared after some blocks.
  driven.mine(20);
  await adopted.untilHalted(wallet);
  await driven.begin(wallet, id);
  await adopted.untilAdopted(wallet);
  await driven.until(id, "completed");
  await expectEndsOnChain(other);
});

it("nor after the chain was ahead of one, as soon as the signer answers", async () => {
  const other = await loseOne();
  const { wallet, bytes } = await loseOne();
  const asked: string[] = [];
  driven.ports.signer = {
    ...driven.honest.signer,
    signedFrom: async (wallets) => {
      asked.push(...wallets.map(({ walletId }) => walletId));
      return await failToSign();
    },
  };
  driven.chain.send(bytes);
  driven.mine(20);
  await adopted.untilHalted(wallet);
  expect((await adopted.readWallet(wallet)).reason).toContain("bursar recover");
  await eventually(
    () => asked.includes(wallet.walletId),
    (isAsked) => isAsked,
    20_000,
  );
  expect(await restored.isConfirmed(other.wallet)).toBe(true);
  driven.ports.signer = driven.honest.signer;
  await expectEndsOnChain(other);
});

it("a nonce that the signer has not signed doubts no other wallet, although the key was used elsewhere", async () => {
  const other = await driven.createFunded();
  const wallet = await driven.createFunded();
  const before = await countDoubts();
  const asked = recordAsked();
  driven.chain.useNonce(wallet.address);
  driven.mine(20);
  await adopted.untilHalted(wallet);
  await untilAskedTwice(asked, wallet);
  expect(await countDoubts()).toBe(before);
  expect(await restored.isConfirmed(other)).toBe(true);
});

it("nor after the signer has shown it of a wallet that was halted for another reason", async () => {
  const other = await loseOne();
  const { wallet } = await loseOne();
  driven.ports.signer = {
    sign: async (intents) => intents.map(() => ({ refused: "WALLET_UNKNOWN", reason: "It is not known." })),
    signedFrom: async (wallets) => wallets.map(() => []),
  };
  await driven.pay(wallet, outside, modelCoin, 30n);
  await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  await adopted.resume(wallet);
  // The payment keeps its nonce: no refusal says that it is bound to another. The signer says nothing while the wallet is halted.
  driven.ports.signer = { ...driven.honest.signer, sign: failToSign };
  await untilDoubted(other.wallet);
  driven.ports.signer = driven.honest.signer;
  await expectEndsOnChain(other);
});

it("two wallets that were halted before any was doubted show one restore", async () => {
  const [one, two] = [await loseOne(), await loseOne()];
  driven.ports.signer = {
    sign: async (intents) => intents.map(() => ({ refused: "WALLET_UNKNOWN", reason: "It is not known." })),
    signedFrom: async (wallets) => wallets.map(() => []),
  };
  for (const { wallet } of [one, two]) {
    await restored.untilConfirmed(wallet);
    await driven.pay(wallet, outside, modelCoin, 30n);
    await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  }
  const before = await countDoubts();
  const asked = recordAsked();
  for (const { wallet } of [one, two]) {
    await adopted.resume(wallet);
    await untilAskedTwice(asked, wallet);
  }
  expect(await countDoubts()).toBe(before + 1);
});

it("a recovery after doubts begins an epoch after all in which wallets were confirmed, also for a version that counts no doubts", async () => {
  const wallet = await driven.createFunded();
  await restored.untilConfirmed(wallet);
  expect(await countDoubts()).toBeGreaterThan(0);
  driven.ports.signer = { sign: failToSign, signedFrom: failToSign };
  await restored.recover();
  const [row] = await driven.database.query<{ is: boolean }>(sql`
    SELECT (SELECT max(number) FROM database_epochs) > confirmed_epoch AS is FROM chain_wallets WHERE wallet_id = ${wallet.walletId}
  `);
  expect(row?.is).toBe(true);
});

it("a wallet that an earlier version has halted before a recovery shows nothing new", async () => {
  const { wallet, id, bytes } = await loseOne();
  driven.ports.signer = { sign: failToSign, signedFrom: failToSign };
  driven.chain.send(bytes);
  driven.mine(20);
  await adopted.untilHalted(wallet);
  await driven.database.query(
    sql`UPDATE chain_wallets SET confirmed_epoch = 0 WHERE wallet_id = ${wallet.walletId}`,
  );
  await restored.recover();
  const before = await countDoubts();
  driven.ports.signer = driven.honest.signer;
  await driven.begin(wallet, id);
  await adopted.untilAdopted(wallet);
  await driven.until(id, "completed");
  expect(await countDoubts()).toBe(before);
});

it("a refusal that names neither the nonce nor the payment takes nothing back", async () => {
  const wallet = await driven.createFunded();
  driven.ports.signer = {
    sign: failToSign,
    signedFrom: async (wallets) => wallets.map(() => []),
  };
  const first = await driven.pay(wallet, outside, modelCoin, 30n);
  await eventually(
    () => driven.nonceOf(first),
    (nonce) => nonce === 0,
  );
  const second = await driven.pay(wallet, outside, modelCoin, 30n);
  await eventually(
    () => driven.nonceOf(second),
    (nonce) => nonce === 1,
  );
  const refusal = { refused: "NONCE_USED", reason: "It is used." } as const;
  driven.ports.signer = {
    ...driven.ports.signer,
    sign: async (intents) =>
      intents.map(({ transactionId }) =>
        transactionId === first ? { ...refusal, signed: { nonce: 9, transactionId: second } } : refusal,
      ),
  };
  await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  expect(await driven.nonceOf(second)).toBe(1);
});
