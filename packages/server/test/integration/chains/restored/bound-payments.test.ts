import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ChainNode } from "../../../../src/app/chain/chain-node.js";
import { sql } from "../../../../src/store/core/sql.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { modelChainNetwork } from "../../../harness/chain/model-network.js";
import { createRestoredChain } from "../../../harness/chain/restored-chain.js";
import { eventually } from "../../../harness/eventually.js";

/* The cases of docs/decisions/0067-confirmed-wallets.md that need no operator: in each of them the wallet goes on. */

let driven: DrivenChain;
let restored: ReturnType<typeof createRestoredChain>;
beforeAll(async () => {
  driven = await startDrivenChain();
  restored = createRestoredChain(driven);
  // Who requested what waits for approval.
  await driven.database.query(sql`
    INSERT INTO clients (id, tenant_id, name, scopes, state, require_signature, created_at, updated_at, authority_changed_at)
    VALUES (${driven.tenantId}, ${driven.tenantId}, 'client', '{}', 'active', false, now(), now(), now())
  `);
});
afterEach(() => {
  driven.ports.node = driven.honest.node;
  driven.chain.setBaseFee(100n);
  expect(driven.errors.splice(0).filter((error) => !/the database has changed/.test(String(error)))).toEqual(
    [],
  );
});
afterAll(() => driven.stop());

/** All payments are estimated like this, and empty transactions as they are. */
function estimatePayments(estimate: Awaited<ReturnType<ChainNode["estimate"]>>[number]): void {
  const { node } = driven.honest;
  driven.ports.node = {
    ...node,
    estimate: async (drafts) => {
      const honest = await node.estimate(drafts);
      return drafts.map(({ amount }, index) => (amount === 0n ? (honest[index] ?? estimate) : estimate));
    },
  };
}

describe("a payment that the signer has bound to a nonce, in a database that has forgotten it,", () => {
  let wallet: ChainWallet;
  let bound: string;
  beforeEach(async () => {
    wallet = await driven.createFunded();
    bound = await driven.accept(wallet, outside, modelCoin, 20n);
  });

  /** The nonce is used by an empty transaction, and the wallet pays again. */
  async function expectEmpty(end: { state: string; failure: string | null }): Promise<void> {
    await restored.untilConfirmed(wallet);
    driven.ports.node = driven.honest.node;
    const next = await driven.pay(wallet, outside, modelCoin, 10n);
    await driven.inPool(2);
    const sent = driven.chain.pool().map(({ intent }) => `${intent?.nonce} ${intent?.purpose}`);
    expect(sent.toSorted()).toEqual(["0 cancellation", "1 payment"]);
    await driven.settle();
    expect(await driven.until(bound, end.state)).toMatchObject(end);
    await driven.until(next, "completed");
    const onChain = balanceOf(driven.chain.final().balances, wallet.address, modelCoin);
    expect(await driven.booked(wallet, modelCoin)).toBe(onChain);
  }

  it("uses it for an empty transaction if it waits for approval and is cancelled", async () => {
    await driven.askApproval(wallet, bound);
    await restored.signLost(wallet, bound);
    await restored.recover();
    await restored.cancel(wallet, bound);
    await restored.look(wallet, bound);
    await expectEmpty({ state: "cancelled", failure: null });
  });

  it("uses it for an empty transaction if it was cancelled and no node can estimate it", async () => {
    estimatePayments({ refused: "UNAVAILABLE" });
    await restored.signLost(wallet, bound);
    await restored.recover();
    await restored.cancel(wallet, bound);
    await restored.look(wallet, bound);
    await expectEmpty({ state: "cancelled", failure: null });
  });

  it("uses it for an empty transaction, whose fee its amount covers, if it was to pay all coins", async () => {
    const coins = 1_000_000_000n;
    wallet = await driven.createFunded(coins);
    bound = await driven.accept(wallet, outside, modelCoin, coins);
    await restored.signLost(wallet, bound);
    await restored.recover();
    await driven.begin(wallet, bound);
    await restored.cancel(wallet, bound);
    await restored.untilConfirmed(wallet);
    await driven.inPool(1);
    await driven.settle();
    await driven.until(bound, "cancelled");
    const onChain = balanceOf(driven.chain.final().balances, wallet.address, modelCoin);
    expect(await driven.booked(wallet, modelCoin)).toBe(onChain);
  });

  it("uses it for an empty transaction if it would revert", async () => {
    estimatePayments({ refused: "WOULD_REVERT" });
    await restored.signLost(wallet, bound);
    await restored.recover();
    await driven.begin(wallet, bound);
    await expectEmpty({ state: "failed", failure: "WOULD_REVERT" });
  });

  it("uses it for an empty transaction if its fee is too high", async () => {
    estimatePayments({ gasLimit: modelChainNetwork.feeMax, dataFee: 0n });
    await restored.signLost(wallet, bound);
    await restored.recover();
    await driven.begin(wallet, bound);
    await expectEmpty({ state: "failed", failure: "FEE_TOO_HIGH" });
  });

  it("uses it for an empty transaction if its tenant is suspended", async () => {
    const suspend = (at: Date | null) =>
      driven.database.query(sql`UPDATE tenants SET suspended_at = ${at} WHERE id = ${wallet.tenantId}`);
    await restored.signLost(wallet, bound);
    await restored.recover();
    await suspend(new Date());
    await driven.begin(wallet, bound);
    await restored.untilConfirmed(wallet);
    await driven.inPool(1);
    await suspend(null);
    await expectEmpty({ state: "cancelled", failure: null });
  });

  it("gets it although more payments than the wallet has room for are before it", async () => {
    const before: string[] = [];
    for (let count = 0; count <= modelChainNetwork.inFlightMax; count++)
      before.push(await driven.accept(wallet, outside, modelCoin, 1n));
    const last = await driven.accept(wallet, outside, modelCoin, 20n);
    await restored.signLost(wallet, last);
    await restored.recover();
    for (const id of before) await driven.begin(wallet, id);
    await driven.begin(wallet, last);
    await restored.untilConfirmed(wallet);
    expect(await driven.nonceOf(last)).toBe(0);
    await eventually(
      async () => {
        driven.mine();
        return await driven.database.query(
          sql`SELECT FROM open_transactions WHERE id = ANY (${[...before, last]}::uuid[])`,
        );
      },
      (open) => open.length === 0,
    );
    expect((await driven.read(last)).state).toBe("completed");
  });
});
