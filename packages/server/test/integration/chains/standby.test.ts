import { expect, it } from "vitest";
import { type ChainService, startChainService } from "../../harness/chain/chain-service.js";
import { outside } from "../../harness/chain/driven-chain.js";
import { modelCoin } from "../../harness/chain/model-chain.js";
import { modelNetwork } from "../../harness/chain/model-network.js";
import { createModelSigner } from "../../harness/chain/model-signer.js";
import { eventually } from "../../harness/eventually.js";

const leaseMs = 1000;

/** The ports of one process, which notes what it reaches. Once it is killed, nothing that it awaits comes. */
function createProcess({ node, store }: ChainService, signer: ReturnType<typeof createModelSigner>) {
  const reached: string[] = [];
  const state = { isKilled: false };
  const wrap = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        // It answers at once, from memory: a promise would be true.
        if (typeof method !== "function" || name === "isToConfirm") return method;
        return async (...given: unknown[]) => {
          reached.push(String(name));
          if (state.isKilled) return await new Promise<never>(() => undefined);
          return await method(...given);
        };
      },
    });
  const ports = {
    ...{ node: wrap(node), signer: wrap(signer), leaseMs },
    store: { ...wrap(store), leases: wrap(store.leases) },
  };
  const attempts = () => reached.filter((name) => name === "acquire").length;
  return { ports, reached, state, attempts };
}

it("a process that waits for the lease only asks for it, and takes over when the other one is killed", async () => {
  const service = await startChainService();
  try {
    const signer = createModelSigner(async () => undefined);
    const [holder, standby] = [createProcess(service, signer), createProcess(service, signer)];
    service.startKilled(holder.ports);
    await eventually(
      () => service.store.readPosition(modelNetwork),
      (position) => position !== undefined,
    );
    // It has the lease when it reads what was followed.
    await eventually(
      async () => holder.reached,
      (reached) => reached.includes("readPosition"),
    );
    const driver = service.startDriver(standby.ports);
    const wallet = await service.createWallet(await service.createTenant());
    service.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount: 10n ** 12n }]);
    for (let block = 0; block < 6; block++) service.chain.mine(() => true);
    await eventually(
      () => service.booked(wallet, modelCoin),
      (booked) => booked > 0n,
    );
    const first = await service.pay(wallet, outside, modelCoin, 1n);
    await eventually(
      () => service.read(first),
      ({ state }) => state === "broadcast",
    );
    const before = standby.attempts();
    await eventually(
      async () => standby.attempts(),
      (attempts) => attempts >= before + 2,
    );
    expect(new Set(standby.reached)).toEqual(new Set(["isRegistered", "acquire"]));
    expect(driver.isRunning()).toBe(false);

    holder.state.isKilled = true;
    const second = await service.pay(wallet, outside, modelCoin, 2n);
    await eventually(
      () => service.read(second),
      ({ state }) => state === "broadcast",
    );
    expect(driver.isRunning()).toBe(true);
    // It is stored before it is sent, so a block that is mined now can be without it.
    for (const id of [first, second])
      await eventually(
        () => {
          service.chain.mine(() => true);
          return service.read(id);
        },
        ({ state }) => state === "completed",
      );
    expect(await service.halts()).toEqual([]);
    expect(service.errors).toEqual([]);
  } finally {
    await service.stop();
  }
});
