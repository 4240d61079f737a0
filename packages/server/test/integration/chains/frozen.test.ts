import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Signer } from "../../../src/app/chain/signer.js";
import { sql } from "../../../src/store/core/sql.js";
import { type ChainService, type ChainWallet, startChainService } from "../../harness/chain/chain-service.js";
import { balanceOf, modelCoin } from "../../harness/chain/model-chain.js";
import { createModelSigner } from "../../harness/chain/model-signer.js";
import { sealOpenTransactions } from "../../harness/database/seal-rows.js";
import { eventually } from "../../harness/eventually.js";

const network = "eip155:31337";
const outside = `0x${"e".repeat(40)}`;

describe("payments on a chain whose source, tenant or client is stopped", () => {
  let service: ChainService;
  let tenantId: string;
  let wallet: ChainWallet;
  /** Called before the signer answers. */
  let beforeSigning: () => Promise<void>;
  beforeEach(async () => {
    beforeSigning = async () => undefined;
    service = await startChainService();
    tenantId = await service.createTenant();
    wallet = await service.createWallet(tenantId);
    const honest = createModelSigner(async () => undefined);
    const signer: Pick<Signer, "sign"> = {
      sign: async (intents) => {
        const signed = await honest.sign(intents);
        await beforeSigning();
        return signed;
      },
    };
    service.startDriver({ signer });
    await eventually(
      () => service.store.readPosition(network),
      (position) => position !== undefined,
    );
    service.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount: 1_000_000_000n }]);
    mine(5);
    await eventually(
      () => service.booked(wallet, modelCoin),
      (booked) => booked === 1_000_000_000n,
    );
  });
  afterEach(() => service.stop());

  const mine = (blocks: number) => {
    for (let block = 0; block < blocks; block++) service.chain.mine((_, isReplaced) => !isReplaced);
  };
  const freeze = (frozen: boolean) =>
    service.database.query(sql`UPDATE wallets SET frozen = ${frozen} WHERE id = ${wallet.walletId}`);
  const suspend = (suspended: boolean) =>
    service.database.query(
      sql`UPDATE tenants SET suspended_at = CASE WHEN ${suspended}::boolean THEN now() END WHERE id = ${tenantId}`,
    );
  const stages = async () =>
    (
      await service.database.query<{ stage: string }>(
        sql`SELECT stage FROM chain_payments ORDER BY transaction_id`,
      )
    ).map(({ stage }) => stage);
  async function payMany(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let index = 0; index < count; index++)
      ids.push(await service.pay(wallet, outside, modelCoin, 1000n));
    return ids;
  }
  const inPool = (count: number) =>
    eventually(
      async () => service.chain.pool().length,
      (length) => length === count,
    );
  const paid = () => balanceOf(service.chain.head().balances, outside, modelCoin);
  const settledTwice = async () => {
    for (let round = 0; round < 2; round++) {
      mine(5);
      await eventually(
        () => service.store.readPosition(network),
        (position) => position?.settledNumber === service.chain.final().number,
      );
    }
  };

  /** Until what was sent is in a block: what is stopped can be replaced before. */
  const withoutSigner = async (work: () => Promise<void>) => {
    beforeSigning = () => Promise.reject(new Error("the signer is down"));
    await work();
    mine(5);
    await eventually(stages, (all) => all.every((stage) => stage !== "assigned" && stage !== "signed"));
    beforeSigning = async () => undefined;
    service.errors.splice(0);
  };

  it("fail when the wallet is frozen while they wait for a nonce, and those that a block includes are paid", async () => {
    const ids = await payMany(6);
    await inPool(4);
    expect((await stages()).filter((stage) => stage === "ready")).toHaveLength(2);
    await withoutSigner(async () => void (await freeze(true)));
    for (const id of ids.slice(4))
      expect(
        await eventually(
          () => service.read(id),
          ({ state }) => state === "failed",
        ),
      ).toMatchObject({ failure: "WALLET_FROZEN", states: ["processing", "failed"] });
    await settledTwice();
    for (const id of ids.slice(0, 4)) expect((await service.read(id)).state).toBe("completed");
    expect(paid()).toBe(4000n);
    expect(service.errors).toEqual([]);
  });

  it("wait while the tenant is suspended, can be cancelled, and go on afterwards", async () => {
    const ids = await payMany(6);
    await inPool(4);
    await withoutSigner(async () => void (await suspend(true)));
    await settledTwice();
    expect(await stages()).toEqual(["over", "over", "over", "over", "ready", "ready"]);
    await service.requestCancel(wallet, ids[4] ?? "");
    await eventually(
      () => service.read(ids[4] ?? ""),
      ({ state }) => state === "cancelled",
    );
    await suspend(false);
    await inPool(1);
    await settledTwice();
    expect(paid()).toBe(5000n);
    expect(service.errors).toEqual([]);
  });

  it("fail if they expire while they wait for a nonce", async () => {
    const ids = await payMany(5);
    await inPool(4);
    const [last = ""] = ids.slice(4);
    await service.database.query(
      sql`UPDATE transactions SET expires_at = created_at + interval '1 ms' WHERE id = ${last}`,
    );
    await sealOpenTransactions(service.database, service.keys, sql`o.id = ${last}`);
    await settledTwice();
    expect(
      await eventually(
        () => service.read(last),
        ({ state }) => state === "failed",
      ),
    ).toMatchObject({ failure: "EXPIRED", states: ["processing", "failed"] });
    await settledTwice();
    expect(paid()).toBe(4000n);
    expect(service.errors).toEqual([]);
  });

  it("fail if their address leaves the allow-list while they wait for a nonce, and those that were sent are paid", async () => {
    const list = (address: string, effective: string) =>
      service.database.query(sql`
        INSERT INTO destinations (tenant_id, id, label, network, address, client_id, created_at, effective_at)
        VALUES (${tenantId}, gen_random_uuid(), 'supplier', ${network}, ${address}, ${tenantId}, now(), ${effective}::timestamptz)
      `);
    const remove = (address: string) =>
      service.database.query(
        sql`UPDATE destinations SET removed_at = now() WHERE address = ${address} AND removed_at IS NULL`,
      );
    const [stays, never] = [`0x${"d".repeat(40)}`, `0x${"c".repeat(40)}`];
    await list(outside, "2020-01-01");
    await list(stays, "2020-01-01");
    // It was removed before the payment to it, which policy has allowed as one to any address.
    await list(never, "2020-01-01");
    await remove(never);
    const ids = await payMany(5);
    await inPool(4);
    const others = [
      await service.pay(wallet, stays, modelCoin, 1n),
      await service.pay(wallet, never, modelCoin, 1n),
    ];
    await remove(outside);
    // A new entry is not the one that the payment was judged by.
    await list(outside, "2100-01-01");
    await remove(stays);
    await list(stays, "2020-01-01");
    mine(5);
    expect(
      await eventually(
        () => service.read(ids[4] ?? ""),
        ({ state }) => state === "failed",
      ),
    ).toMatchObject({ failure: "ADDRESS_NOT_LISTED", states: ["processing", "failed"] });
    await inPool(2);
    await settledTwice();
    for (const id of [...ids.slice(0, 4), ...others])
      expect((await service.read(id)).state).toBe("completed");
    expect(paid()).toBe(4000n);
    expect(service.errors).toEqual([]);
  });

  it("wait while their client is disabled, without holding up those of other clients", async () => {
    const ids = await payMany(10);
    await inPool(4);
    const clientId = wallet.walletId;
    await service.database.query(sql`
      INSERT INTO clients (id, tenant_id, name, scopes, state, require_signature, created_at, updated_at, authority_changed_at)
      VALUES (${clientId}, ${tenantId}, 'stolen', '{}', 'disabled', false, now(), now(), now())
    `);
    // The oldest that are ready are more than there is room for.
    await service.database.query(
      sql`UPDATE transactions SET client_id = ${clientId} WHERE id = ANY (${ids.slice(4, 9)}::uuid[])`,
    );
    await sealOpenTransactions(service.database, service.keys);
    mine(1);
    await inPool(1);
    await settledTwice();
    expect((await stages()).filter((stage) => stage === "ready")).toHaveLength(5);
    expect(paid()).toBe(5000n);
    expect(service.errors).toEqual([]);
  });
});
