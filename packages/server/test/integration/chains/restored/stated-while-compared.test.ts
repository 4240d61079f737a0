import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { describeAct } from "../../../../src/app/audit/audit-entry.js";
import { type ChainNode, NodesDisagreeError } from "../../../../src/app/chain/chain-node.js";
import type { ChainStore, ChainUnit } from "../../../../src/app/chain/chain-store.js";
import { stateNonce } from "../../../../src/store/chain/resume-chain.js";
import { sql } from "../../../../src/store/core/sql.js";
import {
  type ChainService,
  type ChainWallet,
  startChainService,
} from "../../../harness/chain/chain-service.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { eventually } from "../../../harness/eventually.js";

let service: ChainService;
beforeEach(async () => {
  service = await startChainService();
});
afterEach(() => service.stop());

const mine = (blocks: number) => {
  for (let block = 0; block < blocks; block++) service.chain.mine(() => true);
};

const credit = (wallet: ChainWallet, amount: bigint) =>
  service.chain.pay([{ asset: modelCoin, from: `0x${"e".repeat(40)}`, to: wallet.address, amount }]);

async function readHalt({ walletId }: ChainWallet): Promise<string | null> {
  const [row] = await service.database.query<{ code: string | null }>(
    sql`SELECT halted_code AS code FROM chain_wallets WHERE wallet_id = ${walletId}`,
  );
  return row?.code ?? null;
}

/** Calls `interrupt` once, after the books were read and before the SQL transaction goes on, and gives it time to write. */
function interruptComparison(interrupt: () => Promise<unknown>): ChainStore {
  let isDone = false;
  const readBooks = (unit: ChainUnit) => async (wallets: Parameters<ChainUnit["readBooks"]>[0]) => {
    const books = await unit.readBooks(wallets);
    if (!isDone && wallets.length > 0) {
      isDone = true;
      await Promise.race([interrupt(), sleep(500)]);
    }
    return books;
  };
  return {
    ...service.store,
    unitOfWork: (position, work) =>
      service.store.unitOfWork(position, (unit) => work({ ...unit, readBooks: readBooks(unit) })),
  };
}

/** A wallet whose key was used elsewhere. */
async function createHalted(): Promise<ChainWallet> {
  const tenantId = await service.createTenant();
  const first = service.startDriver();
  await eventually(
    () => service.store.readPosition("eip155:31337"),
    (position) => position !== undefined,
  );
  const wallet = await service.createWallet(tenantId);
  credit(wallet, 100n);
  mine(5);
  await eventually(
    () => service.booked(wallet, modelCoin),
    (booked) => booked === 100n,
  );
  service.chain.useNonce(wallet.address);
  credit(wallet, 1n);
  mine(5);
  await eventually(
    () => readHalt(wallet),
    (code) => code === "NONCE_USED_ELSEWHERE",
  );
  await first.stop();
  return wallet;
}

const state = (wallet: ChainWallet) => {
  const origin = { by: "operator", tenantId: wallet.tenantId } as const;
  const entry = describeAct(origin, "wallet.adopt", wallet.walletId, new Date());
  return stateNonce(service.keyed, wallet, { nonce: 1, paysWaiting: false }, entry);
};

/** Mines fewer blocks than a wallet waits that nothing has happened to. */
async function expectAdopted(wallet: ChainWallet): Promise<void> {
  mine(5);
  await eventually(
    () => readHalt(wallet),
    (code) => code === null,
  );
}

it("is compared again at the next block if the operator states its nonce while it is compared", async () => {
  const wallet = await createHalted();
  let stated: Promise<unknown> | undefined;
  const store = interruptComparison(() => {
    stated = state(wallet);
    return stated;
  });
  service.startDriver({ store });
  credit(wallet, 1n);
  mine(5);
  await eventually(
    async () => stated,
    (one) => one !== undefined,
  );
  expect(await stated).toBe("stated");
  await expectAdopted(wallet);
});

it("is compared again at the next block if the operator states its nonce while nodes disagree about it", async () => {
  const wallet = await createHalted();
  let stated: Promise<unknown> | undefined;
  let isPassedOver = false;
  const noncesAt: ChainNode["noncesAt"] = async (...given) => {
    if (isPassedOver) return await service.node.noncesAt(...given);
    stated ??= state(wallet);
    await stated;
    throw new NodesDisagreeError("they disagree");
  };
  const unitOfWork: ChainStore["unitOfWork"] = async (position, work) => {
    let isPassing = false;
    const lockWallets = (unit: ChainUnit) => (wallets: Parameters<ChainUnit["lockWallets"]>[0]) => {
      isPassing = stated !== undefined;
      unit.lockWallets(wallets);
    };
    const result = await service.store.unitOfWork(position, (unit) =>
      work({ ...unit, lockWallets: lockWallets(unit) }),
    );
    isPassedOver ||= isPassing;
    return result;
  };
  service.startDriver({ node: { ...service.node, noncesAt }, store: { ...service.store, unitOfWork } });
  credit(wallet, 1n);
  mine(5);
  await eventually(
    async () => isPassedOver,
    (isDone) => isDone,
  );
  expect(await stated).toBe("stated");
  await expectAdopted(wallet);
});
