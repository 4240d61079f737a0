import { afterEach, beforeEach, expect, it } from "vitest";
import { type ClientOrigin, describeAct } from "../../../../src/app/audit/audit-entry.js";
import { type ChainNode, NodeUnavailableError } from "../../../../src/app/chain/chain-node.js";
import { createTransactionCanceller } from "../../../../src/app/transactions/cancel-transaction.js";
import { createChangeHub } from "../../../../src/app/transactions/change-hub.js";
import { createEvmRail } from "../../../../src/rails/evm/evm-rail.js";
import { nodeTimers } from "../../../../src/runtime/loops/timers.js";
import { stateNonce } from "../../../../src/store/chain/resume-chain.js";
import { sql } from "../../../../src/store/core/sql.js";
import { createEventLog } from "../../../../src/store/events/events.js";
import { createSettlementStore } from "../../../../src/store/transactions/settlement.js";
import {
  type ChainService,
  type ChainWallet,
  startChainService,
} from "../../../harness/chain/chain-service.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { modelAssets, modelChainNetwork } from "../../../harness/chain/model-network.js";
import { eventually } from "../../../harness/eventually.js";

const outside = `0x${"e".repeat(40)}`;

let service: ChainService;
beforeEach(async () => {
  service = await startChainService();
});
afterEach(() => service.stop());

const mine = (blocks: number) => {
  for (let block = 0; block < blocks; block++) service.chain.mine(() => true);
};
const following = () =>
  eventually(
    () => service.store.readPosition("eip155:31337"),
    (position) => position !== undefined,
  );
const credit = (wallet: ChainWallet, amount: bigint) =>
  service.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount }]);
const untilBooked = (wallet: ChainWallet, amount: bigint) =>
  eventually(
    () => service.booked(wallet, modelCoin),
    (booked) => booked === amount,
  );
const untilHalted = (wallet: ChainWallet, code: string) =>
  eventually(
    async () => {
      const [row] = await service.database.query<Record<"code" | "reason" | "stated", string | null>>(
        sql`SELECT halted_code AS code, halted_reason AS reason, stated_nonce AS stated FROM chain_wallets WHERE wallet_id = ${wallet.walletId}`,
      );
      return row;
    },
    (row) => row?.code === code,
  );

it("a node without the state of final blocks delays only the comparison with the books", async () => {
  let isPruned = true;
  let asked = 0;
  const node: ChainNode = {
    ...service.node,
    balances: async (...given) => {
      // Those that follow are about each account of the same comparison alone.
      if (given[0].length > 1) asked += 1;
      if (isPruned) throw new NodeUnavailableError("missing trie node");
      return await service.node.balances(...given);
    },
  };
  let positions = 0;
  const store = {
    ...service.store,
    readPosition: (network: string) => {
      positions += 1;
      return service.store.readPosition(network);
    },
  };
  service.startDriver({ node, store });
  await following();
  const wallet = await service.createWallet(await service.createTenant());
  const [transfer, hidden] = [1_000_000_000n, 5n].map((amount) => ({
    ...{ asset: modelCoin, from: outside, to: wallet.address, amount },
  })) as [Parameters<typeof service.chain.pay>[0][number], Parameters<typeof service.chain.pay>[0][number]];
  service.chain.pay([transfer], [hidden]);
  mine(5);
  await untilBooked(wallet, transfer.amount);
  const begun = positions;
  const id = await service.pay(wallet, outside, modelCoin, 7n);
  await eventually(
    async () => service.chain.pool().length,
    (count) => count === 1,
  );
  mine(5);
  await eventually(
    () => service.read(id),
    ({ state }) => state === "completed",
  );
  // The chain was followed without beginning again, and the node was not asked at every block.
  expect(positions).toBe(begun);
  expect(asked).toBeLessThan(10);
  expect(service.errors.length).toBe(asked);
  isPruned = false;
  await untilBooked(wallet, balanceOf(service.chain.final().balances, wallet.address, modelCoin));
});

it("a wallet below its books is halted, also if another one that is compared with it cannot be adopted", async () => {
  const failure = new NodeUnavailableError("no node has the state of this block");
  const node: ChainNode = { ...service.node, findNonceUse: () => Promise.reject(failure) };
  service.startDriver({ node });
  await following();
  const tenantId = await service.createTenant();
  const [adopted, below] = [await service.createWallet(tenantId), await service.createWallet(tenantId)];
  const amount = 1_000_000_000n;
  credit(adopted, amount);
  credit(below, amount);
  mine(5);
  await untilBooked(adopted, amount);
  await untilBooked(below, amount);
  await service.pay(adopted, outside, modelCoin, 10n);
  await eventually(
    async () => service.chain.pool().length,
    (count) => count === 1,
  );
  service.chain.useNonce(adopted.address);
  credit(adopted, 1n);
  mine(5);
  await untilHalted(adopted, "NONCE_USED_ELSEWHERE");
  const entry = describeAct({ by: "operator", tenantId }, "wallet.adopt", adopted.walletId, new Date());
  await stateNonce(service.keyed, adopted, { nonce: 1, paysWaiting: true }, entry);
  service.chain.credit(below.address, modelCoin, -7n);
  // The same block touches both, so they are compared together. It is the last one, and nothing compares them again.
  credit(adopted, 1n);
  credit(below, 1n);
  mine(5);
  await untilHalted(below, "BALANCE_BELOW_BOOKS");
  // Its statement waits for a node that can tell.
  expect(await untilHalted(adopted, "NONCE_USED_ELSEWHERE")).toMatchObject({ stated: "1" });
  await eventually(
    async () => service.errors,
    (errors) => errors.includes(failure),
  );
});

it("a payment that waits for the operator does not keep the driver busy", async () => {
  let asked = 0;
  let pauses = 0;
  const node: ChainNode = {
    ...service.node,
    noncesAt: (...given) => {
      asked += 1;
      return service.node.noncesAt(...given);
    },
  };
  const timers = {
    after: (delayMs: number, work: () => void) => {
      pauses += 1;
      return nodeTimers.after(delayMs, work);
    },
  };
  const driver = service.startDriver({ node, timers });
  try {
    await following();
    const wallet = await service.createWallet(await service.createTenant());
    credit(wallet, 1_000_000_000n);
    mine(5);
    await untilBooked(wallet, 1_000_000_000n);
    service.chain.useNonce(wallet.address);
    mine(5);
    const id = await service.pay(wallet, outside, modelCoin, 30n);
    driver.wake();
    await untilHalted(wallet, "NONCE_USED_ELSEWHERE");
    await service.requestCancel(wallet, id);
    driver.wake();
    const before = { asked, pauses };
    await eventually(
      async () => asked,
      (count) => count >= before.asked + 10,
    );
    // One question for the nonces in each step, and a pause after it.
    expect(pauses - before.pauses).toBeGreaterThanOrEqual(8);
    expect((await service.read(id)).state).toBe("processing");
  } finally {
    await driver.stop();
  }
});

function createCanceller(onRequested: () => void) {
  const cancel = createTransactionCanceller({
    settlements: createSettlementStore(
      service.keyed,
      createEventLog({ publish: () => undefined }),
      modelAssets,
    ),
    stopInAnyCase: (_, { act }) => act(),
    rails: { get: () => createEvmRail(modelChainNetwork) },
    read: async () => ({ refused: "NOT_FOUND" }),
    changes: createChangeHub(nodeTimers),
    onRequested,
    audit: { recordAct: () => undefined },
    now: Date.now,
  });
  return ({ tenantId }: ChainWallet, id: string) =>
    cancel({ principal: { tenantId, clientId: tenantId } } as ClientOrigin, id);
}

it("a payment that has not begun ends at once when it is cancelled, but not while the chain is ahead", async () => {
  const driver = service.startDriver();
  const cancel = createCanceller(driver.wake);
  await following();
  const tenantId = await service.createTenant();
  const wallet = await service.createWallet(tenantId);
  credit(wallet, 1_000_000_000n);
  mine(5);
  await untilBooked(wallet, 1_000_000_000n);
  const ended = await service.accept(wallet, outside, modelCoin, 20n);
  await cancel(wallet, ended);
  expect((await service.read(ended)).state).toBe("cancelled");
  // As after a restore: the payment may be the one that has used the nonce.
  const forgotten = await service.accept(wallet, outside, modelCoin, 30n);
  service.chain.useNonce(wallet.address);
  credit(wallet, 1n);
  mine(5);
  await untilHalted(wallet, "NONCE_USED_ELSEWHERE");
  await cancel(wallet, forgotten);
  expect((await service.read(forgotten)).state).toBe("accepted");
  await service.begin(wallet, forgotten);
  const entry = describeAct({ by: "operator", tenantId }, "wallet.adopt", wallet.walletId, new Date());
  expect(await stateNonce(service.keyed, wallet, { nonce: 1, paysWaiting: false }, entry)).toEqual({
    waiting: [{ id: forgotten, cancelRequested: true }],
  });
  expect((await service.read(forgotten)).state).toBe("processing");
  await stateNonce(service.keyed, wallet, { nonce: 1, paysWaiting: true }, entry);
  mine(5);
  await eventually(
    () => service.read(forgotten),
    ({ state }) => state === "cancelled",
  );
});

it("what waits for approval ends when it is cancelled while the books hold what is missing, and the wallet goes on", async () => {
  const { wake } = service.startDriver();
  const cancel = createCanceller(wake);
  await following();
  const tenantId = await service.createTenant();
  const wallet = await service.createWallet(tenantId);
  credit(wallet, 1_000_000_000n);
  mine(5);
  await untilBooked(wallet, 1_000_000_000n);
  const id = await service.accept(wallet, outside, modelCoin, 1_000_000_000n);
  // The client of all payments here, which is read with what waits for approval.
  await service.database.query(sql`
    INSERT INTO clients (id, tenant_id, name, scopes, state, require_signature, created_at, updated_at, authority_changed_at)
    VALUES (${tenantId}, ${tenantId}, 'pays', '{}', 'active', false, now(), now(), now())
  `);
  await service.askApproval(wallet, id);
  service.chain.credit(wallet.address, modelCoin, -7n);
  credit(wallet, 1n);
  mine(5);
  await untilHalted(wallet, "BALANCE_BELOW_BOOKS");
  const entry = describeAct({ by: "operator", tenantId }, "wallet.adopt", wallet.walletId, new Date());
  await stateNonce(service.keyed, wallet, { nonce: 0, paysWaiting: false }, entry);
  mine(5);
  await eventually(
    () => untilHalted(wallet, "BALANCE_BELOW_BOOKS"),
    (row) => row?.reason?.includes("Cancel payments that hold some") === true,
  );
  await cancel(wallet, id);
  expect((await service.read(id)).state).toBe("cancelled");
  await stateNonce(service.keyed, wallet, { nonce: 0, paysWaiting: false }, entry);
  mine(5);
  await untilBooked(wallet, 999_999_994n);
});
