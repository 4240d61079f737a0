import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChainNode } from "../../../../src/app/chain/chain-node.js";
import type { ChainStore, ChainUnit } from "../../../../src/app/chain/chain-store.js";
import type { Signer } from "../../../../src/app/chain/signer.js";
import { sql } from "../../../../src/store/core/sql.js";
import {
  type ChainService,
  type ChainWallet,
  startChainService,
} from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { modelNetwork } from "../../../harness/chain/model-network.js";
import { createModelSigner } from "../../../harness/chain/model-signer.js";
import { eventually } from "../../../harness/eventually.js";

const nodeSteps = ["estimate", "market", "noncesAt", "send"] as const;
const unitSteps = ["assign", "storeAttempts"] as const;
type Step = (typeof nodeSteps)[number] | (typeof unitSteps)[number] | "sign";
type When = "before" | "after";

const deaths = [...nodeSteps, ...unitSteps, "sign" as const].flatMap((step) =>
  (["before", "after"] as const).map((when) => ({ step, when })),
);

/** The ports of a driver whose process is killed at a step: nothing that it awaits comes, and nothing of it is written. */
function createMortal(death: { step: Step; when: When }) {
  let isDead = false;
  let died: () => void = () => undefined;
  const hasDied = new Promise<void>((resolve) => {
    died = resolve;
  });
  const die = () => {
    isDead = true;
    died();
  };
  const never = () => new Promise<never>(() => undefined);
  const reach = (step: Step, when: When) => {
    if (!isDead && death.step === step && death.when === when) die();
    return isDead;
  };
  const lives = async <T>(step: Step | undefined, work: () => Promise<T>): Promise<T> => {
    if (isDead || (step !== undefined && reach(step, "before"))) return await never();
    const result = await work().catch((error: unknown) => (isDead ? never() : Promise.reject(error)));
    return isDead || (step !== undefined && reach(step, "after")) ? await never() : result;
  };
  const stepOf = (name: string | symbol) => nodeSteps.find((one) => one === name);
  const wrap = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return (...given: unknown[]) => lives(stepOf(name), () => method(...given));
      },
    });
  const mortalUnit = (unit: ChainUnit): ChainUnit => ({
    ...unit,
    assign: (payments, ...given) => {
      if (payments.length > 0 && reach("assign", "before")) throw new Error("killed");
      unit.assign(payments, ...given);
    },
    storeAttempts: (attempts, ...given) => {
      if (attempts.length > 0 && reach("storeAttempts", "before")) throw new Error("killed");
      unit.storeAttempts(attempts, ...given);
    },
  });
  return {
    hasDied,
    node: (node: ChainNode) => wrap(node),
    signer: (signer: Signer): Pick<Signer, "sign"> => ({
      sign: (intents) => lives("sign", () => signer.sign(intents)),
    }),
    store: (store: ChainStore): ChainStore => ({
      ...wrap(store),
      leases: wrap(store.leases),
      unitOfWork: (position, work) => {
        let written: Step | undefined;
        const run = () =>
          store.unitOfWork(position, (unit) => {
            const mortal = mortalUnit(unit);
            const note = (step: Step, count: number) => {
              if (count > 0) written = step;
            };
            return work({
              ...mortal,
              assign: (payments, ...given) => {
                note("assign", payments.length);
                mortal.assign(payments, ...given);
              },
              storeAttempts: (attempts, ...given) => {
                note("storeAttempts", attempts.length);
                mortal.storeAttempts(attempts, ...given);
              },
            });
          });
        return lives(undefined, run).then((result) =>
          written !== undefined && reach(written, "after") ? never() : result,
        );
      },
    }),
  };
}

describe("a driver that is killed while nonces are given and the signer works", () => {
  let service: ChainService;
  beforeAll(async () => {
    service = await startChainService();
  });
  afterAll(() => service.stop());

  const mine = (blocks: number) => {
    for (let block = 0; block < blocks; block++) service.chain.mine((_, isReplaced) => !isReplaced);
  };
  async function createFunded(tenantId: string): Promise<ChainWallet> {
    const wallet = await service.createWallet(tenantId);
    service.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount: 10n ** 12n }]);
    return wallet;
  }

  it.each(deaths)("has its payments made once by the next one: $when $step", async ({ step, when }) => {
    const tenantId = await service.createTenant();
    const signer = createModelSigner(async () => undefined);
    const leaseMs = 200;
    const first = service.startDriver({ signer, leaseMs });
    await eventually(
      () => service.store.readPosition(modelNetwork),
      (one) => one !== undefined,
    );
    const wallets = [await createFunded(tenantId), await createFunded(tenantId)] as const;
    mine(5);
    for (const wallet of wallets)
      await eventually(
        () => service.booked(wallet, modelCoin),
        (booked) => booked > 0n,
      );
    await service.stopDrivers();
    expect(first.isRunning()).toBe(true);
    const paidBefore = balanceOf(service.chain.head().balances, outside, modelCoin);
    const ids: string[] = [];
    for (const amount of [1n, 2n, 3n])
      for (const wallet of wallets) ids.push(await service.pay(wallet, outside, modelCoin, amount));
    const mortal = createMortal({ step, when });
    service.startKilled({
      node: mortal.node(service.node),
      signer: mortal.signer(signer),
      store: mortal.store(service.store),
      leaseMs,
    });
    await mortal.hasDied;
    service.startDriver({ signer, leaseMs });
    await eventually(
      async () => service.chain.pool().length,
      (length) => length === ids.length,
    );
    mine(6);
    for (const id of ids)
      await eventually(
        () => service.read(id),
        ({ state }) => state === "completed",
      );
    expect(balanceOf(service.chain.head().balances, outside, modelCoin) - paidBefore).toBe(12n);
    const nonces = await service.database.query<{ nonce: string }>(sql`
      SELECT nonce FROM chain_payments WHERE tenant_id = ${tenantId} ORDER BY wallet_id, nonce
    `);
    expect(nonces.map(({ nonce }) => Number(nonce))).toEqual([0, 1, 2, 0, 1, 2]);
    await service.stopDrivers();
    expect(service.errors).toEqual([]);
  });
});
