import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ChainBlock } from "../../../src/app/chain/chain-node.js";
import { sql } from "../../../src/store/core/sql.js";
import type { ChainWallet } from "../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../harness/chain/driven-chain.js";
import { modelCoin } from "../../harness/chain/model-chain.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";

describe("a payment on a chain that cannot be processed", () => {
  let driven: DrivenChain;
  let role: ServiceRole;
  let faulty: ChainWallet;
  let healthy: ChainWallet;
  beforeAll(async () => {
    driven = await startDrivenChain();
    role = await createServiceRole(driven.database);
  });
  beforeEach(async () => {
    [faulty, healthy] = [await driven.createFunded(), await driven.createFunded()];
  });
  afterEach(() => {
    Object.assign(driven.ports, driven.honest);
  });
  afterAll(async () => {
    await role.drop();
    await driven.stop();
  });

  const setState = (id: string, state: string) =>
    driven.database.query(sql`UPDATE open_transactions SET state = ${state} WHERE id = ${id}`);
  const haltOf = async ({ walletId }: ChainWallet) =>
    (
      await driven.database.query<{ reason: string | null }>(
        sql`SELECT halted_reason AS reason FROM chain_wallets WHERE wallet_id = ${walletId}`,
      )
    )[0]?.reason;
  const halted = () =>
    eventually(
      () => haltOf(faulty),
      (reason) => typeof reason === "string",
    );
  async function expectOthersPaid(ids: readonly string[], inPool = ids.length): Promise<void> {
    for (const id of ids) await driven.until(id, "broadcast");
    await driven.inPool(inPool);
    await driven.settle();
    for (const id of ids) await driven.until(id, "completed");
    expect(await haltOf(healthy)).toBeNull();
    expect(driven.errors).toEqual([]);
  }

  it("halts its wallet when it should get a nonce, and the others are paid", async () => {
    const release = holdAssignment();
    const bad = await driven.pay(faulty, outside, modelCoin, 1n);
    await setState(bad, "accepted");
    const ids = [await driven.pay(healthy, outside, modelCoin, 2n)];
    release();
    expect(await halted()).toContain(`reserve_fee of the transaction ${bad}`);
    expect(await driven.nonceOf(bad)).toBeNull();
    await expectOthersPaid(ids);
  });

  it("halts its wallet when its bytes should be stored, and the others are paid", async () => {
    let bad = "";
    driven.ports.signer = {
      sign: async (intents) => {
        if (intents.some(({ transactionId }) => transactionId === bad)) await setState(bad, "accepted");
        return await driven.honest.signer.sign(intents);
      },
    };
    const release = holdAssignment();
    bad = await driven.pay(faulty, outside, modelCoin, 1n);
    const ids = [await driven.pay(healthy, outside, modelCoin, 2n)];
    release();
    expect(await halted()).toContain(`broadcast of the transaction ${bad}`);
    await expectOthersPaid(ids);
  });

  it("that was paid and is put back to be paid again is not, and the wallet's others are paid", async () => {
    // As many as the wallet may have in flight.
    const first: string[] = [];
    for (let count = 0; count < 4; count++) first.push(await driven.pay(faulty, outside, modelCoin, 1n));
    await driven.inPool(4);
    await driven.settle();
    for (const id of first) await driven.until(id, "completed");
    await driven.database.query(sql`
      UPDATE chain_payments SET stage = 'ready', nonce = NULL WHERE transaction_id = ANY (${first}::uuid[])
    `);
    const ids = [
      await driven.pay(faulty, outside, modelCoin, 3n),
      await driven.pay(healthy, outside, modelCoin, 2n),
    ];
    await expectOthersPaid(ids);
    for (const id of first) expect(await driven.nonceOf(id)).toBeNull();
  });

  it("halts its wallet when its fees cannot be raised, and another one is cancelled", async () => {
    const [bad, good] = [
      await driven.pay(faulty, outside, modelCoin, 1n),
      await driven.pay(healthy, outside, modelCoin, 2n),
    ];
    for (const id of [bad, good]) await driven.until(id, "broadcast");
    const setGas = `UPDATE chain_attempts SET gas_limit = 0 WHERE transaction_id = '${bad}'`;
    await expect(role.run(setGas)).rejects.toThrow("permission denied");
    await expect(driven.database.run(setGas)).rejects.toThrow("chain_attempts_values_check");
    // As in a row that was written before there was a constraint.
    await withoutConstraint("chain_attempts", "chain_attempts_values_check", async () => {
      await driven.database.run(`${setGas};
        UPDATE chain_payments SET speed_up_requested = true WHERE transaction_id = '${bad}'`);
      await driven.requestCancel(healthy, good);
      driven.wake();
      expect(await halted()).toContain("Division by zero");
      await eventually(
        () => attemptsOf(good),
        (purposes) => purposes.at(-1) === "cancellation",
      );
    });
    await driven.settle();
    expect(await haltOf(healthy)).toBeNull();
    expect(driven.errors).toEqual([]);
  });

  it("halts its wallet when its cancellation is refused and cannot be raised, and what was signed with it is stored", async () => {
    const bad = await driven.pay(faulty, outside, modelCoin, 1n);
    await driven.until(bad, "broadcast");
    driven.ports.signer = {
      sign: async (intents) => {
        const signed = await driven.honest.signer.sign(intents);
        const refusal = { refused: "FEES_NOT_HIGHER", reason: "they are not" } as const;
        return intents.map(({ transactionId }, index) =>
          transactionId === bad ? refusal : (signed[index] ?? refusal),
        );
      },
    };
    const release = holdAssignment();
    const ids = [await driven.pay(healthy, outside, modelCoin, 2n)];
    await driven.requestCancel(faulty, bad);
    await eventually(
      () => wantedOf(bad),
      (wanted) => wanted > 1,
    );
    await role.run(`UPDATE open_transactions SET state = 'accepted' WHERE id = '${bad}'`);
    release();
    driven.wake();
    expect(await halted()).toContain(`reserve_fee of the transaction ${bad} is`);
    for (const id of ids) await driven.until(id, "broadcast");
    expect(await haltOf(healthy)).toBeNull();
    expect(driven.errors).toEqual([]);
  });

  it("halts its wallet when a block has it and nothing of it can be written, and the block is followed", async () => {
    const bad = await driven.pay(faulty, outside, modelCoin, 1n);
    const ids = [await driven.pay(healthy, outside, modelCoin, 2n)];
    for (const id of [bad, ...ids]) await driven.until(id, "broadcast");
    await role.run(`UPDATE transactions SET asset = 'GONE' WHERE id = '${bad}'`);
    await expectOthersPaid(ids, 2);
    expect(await halted()).toContain("the asset GONE is not on the network");
  });

  it("halts its wallet when no node gives its receipt, and its block is settled when it is read again", async () => {
    let [bad, misreads] = ["", 0];
    const hide = (block: ChainBlock): ChainBlock => ({
      ...block,
      outcomes: block.outcomes.map((outcome) =>
        outcome.hash === bad
          ? { hash: bad, success: false, fee: 0n, transfers: [], unreadable: "it is too large" }
          : outcome,
      ),
      transfers: block.transfers.filter(({ hash }) => hash !== bad),
    });
    const { node } = driven.honest;
    driven.ports.node = {
      ...node,
      block: async (...given) => {
        const block = await node.block(...given);
        return block === undefined ? undefined : hide(block);
      },
      finalBlocks: async (...given) => (await node.finalBlocks(...given)).map(hide),
      // What was followed is read again when it is final.
      heads: async (...given) => ({ ...(await node.heads(...given)), misreads }),
    };
    const id = await driven.pay(faulty, outside, modelCoin, 1n);
    const ids = [await driven.pay(healthy, outside, modelCoin, 2n)];
    // They are sent after they were recorded.
    await driven.inPool(2);
    bad = await hashOf(id);
    driven.mine();
    for (const one of ids) await driven.until(one, "confirming");
    expect(await halted()).toMatch(/its receipt cannot be read: it is too large/);
    misreads += 1;
    await driven.settle();
    for (const one of ids) await driven.until(one, "completed");
    expect(await haltOf(healthy)).toBeNull();
    expect(driven.errors).toEqual([]);
    expect((await driven.read(id)).state).toBe("broadcast");
  });

  it("halts its wallet when its books cannot be compared, and the others are compared", async () => {
    const setGathered = `
      INSERT INTO chain_holdings (tenant_id, wallet_id, asset, gathered)
      VALUES ('${faulty.tenantId}', '${faulty.walletId}', 'USDC.SIM', 'NaN')`;
    await expect(role.run(setGathered)).rejects.toThrow("chain_holdings_values_check");
    await withoutConstraint("chain_holdings", "chain_holdings_values_check", async () => {
      await role.run(`${setGathered};
        UPDATE chain_wallets SET compared_number = -1
        WHERE wallet_id IN ('${faulty.walletId}', '${healthy.walletId}')`);
      await driven.settle();
      expect(await halted()).toContain("Its books cannot be compared with the chain: ");
      await eventually(
        () =>
          driven.database.query<{ id: string }>(sql`
            SELECT wallet_id AS id FROM chain_wallets
            WHERE wallet_id = ${healthy.walletId} AND compared_number > 0`),
        ({ length }) => length === 1,
      );
      await role.run(`UPDATE chain_holdings SET gathered = 0 WHERE wallet_id = '${faulty.walletId}'`);
    });
    expect(await haltOf(healthy)).toBeNull();
    expect(driven.errors).toEqual([]);
  });

  it("does not stop the blocks of others if a token states more than there can be", async () => {
    const most = { asset: "USDC.SIM", from: outside, to: faulty.address, amount: 2n ** 256n - 1n };
    driven.chain.pay(Array.from({ length: 120 }, () => most));
    const ids = [await driven.pay(healthy, outside, modelCoin, 2n)];
    await expectOthersPaid(ids, 2);
    expect(await halted()).toContain("overflow");
  });

  const hashOf = async (id: string) =>
    (
      await driven.database.query<{ hash: string }>(
        sql`SELECT hash FROM chain_attempts WHERE transaction_id = ${id}`,
      )
    )[0]?.hash ?? "";
  const attemptsOf = async (id: string) =>
    (
      await driven.database.query<{ purpose: string }>(
        sql`SELECT purpose FROM chain_attempts WHERE transaction_id = ${id} ORDER BY number`,
      )
    ).map(({ purpose }) => purpose);
  const wantedOf = async (id: string) =>
    (
      await driven.database.query<{ wanted: number }>(
        sql`SELECT wanted FROM chain_payments WHERE transaction_id = ${id}`,
      )
    )[0]?.wanted ?? 0;

  /** The constraint is restored for the rows that come later. */
  async function withoutConstraint(table: string, name: string, work: () => Promise<void>): Promise<void> {
    const [row] = await driven.database.query<{ definition: string }>(
      sql`SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conname = ${name}`,
    );
    await driven.database.run(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
    try {
      await work();
    } finally {
      await driven.database.run(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${row?.definition}`);
    }
  }

  /** Nothing gets a nonce until it is released. */
  function holdAssignment(): () => void {
    const { node } = driven.honest;
    driven.ports.node = {
      ...node,
      estimate: async (drafts) => drafts.map(() => ({ refused: "UNAVAILABLE" })),
    };
    return () => {
      driven.ports.node = node;
    };
  }
});
