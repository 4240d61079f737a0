import { expect, it } from "vitest";
import { type ChainNode, NodeUnavailableError } from "../../../../src/app/chain/chain-node.js";
import { createWalletPresenter } from "../../../../src/app/wallets/present-wallet.js";
import { readNetworks } from "../../../../src/store/chain/read-networks.js";
import { createEventLog } from "../../../../src/store/events/events.js";
import { createWalletStore } from "../../../../src/store/wallets/wallets.js";
import { startChainService } from "../../../harness/chain/chain-service.js";
import { modelAssets, modelChainNetwork, modelNetwork } from "../../../harness/chain/model-network.js";
import { eventually } from "../../../harness/eventually.js";

it("a network that no process follows is shown as waiting, and so is what its wallets wait for", async () => {
  const service = await startChainService();
  try {
    const { tenantId, walletId } = await service.createWallet(await service.createTenant());
    const wallets = createWalletStore(service.keyed, createEventLog({ publish: () => undefined }));
    const shown = async () => {
      const [network] = await readNetworks(service.keyed, [modelNetwork]);
      const wallet = await wallets.readWallet(tenantId, walletId);
      return { state: network?.state, blockedBy: wallet?.sending?.blockedBy };
    };
    expect(await shown()).toEqual({ state: undefined, blockedBy: "network_waiting" });
    for (let processes = 0; processes < 2; processes++) {
      service.startDriver();
      const followed = { state: "following", blockedBy: null };
      await eventually(shown, ({ state }) => state === followed.state);
      expect(await shown()).toEqual(followed);
      await service.stopDrivers();
      expect(await shown()).toEqual({ state: "waiting", blockedBy: "network_waiting" });
    }
  } finally {
    await service.stop();
  }
});

it("a network whose only node is silent is shown as unreachable, since when, and follows again when it answers", async () => {
  const service = await startChainService();
  try {
    let isSilent = false;
    const refuseSilent = () => {
      if (isSilent) throw new NodeUnavailableError("no answer");
    };
    const node: ChainNode = {
      ...service.node,
      heads: async (settled) => {
        refuseSilent();
        return await service.node.heads(settled);
      },
      // A driver asks for the first block before it asks for heads.
      header: async (block) => {
        refuseSilent();
        return await service.node.header(block);
      },
    };
    const { tenantId, walletId } = await service.createWallet(await service.createTenant());
    const wallets = createWalletStore(service.keyed, createEventLog({ publish: () => undefined }));
    const shown = async () => {
      const [network] = await readNetworks(service.keyed, [modelNetwork]);
      const wallet = await wallets.readWallet(tenantId, walletId);
      const { state, unreachableSince: since, seenAt } = network ?? {};
      return { state, since, seenAt, blockedBy: wallet?.sending?.blockedBy };
    };
    service.startDriver({ node });
    for (let silences = 0; silences < 2; silences++) {
      const before = await eventually(shown, ({ state, seenAt }) => state === "following" && seenAt !== null);
      expect(before).toMatchObject({ since: null, blockedBy: null });
      const from = Date.now();
      isSilent = true;
      const { since, ...silent } = await eventually(shown, ({ state }) => state === "unreachable");
      expect(silent).toEqual({
        state: "unreachable",
        seenAt: before.seenAt,
        blockedBy: "network_unreachable",
      });
      expect(since?.getTime()).toBeGreaterThanOrEqual(from);
      await service.stopDrivers();
      expect(await shown()).toMatchObject({ state: "waiting", since: null, blockedBy: "network_waiting" });
      service.startDriver({ node });
      expect((await eventually(shown, ({ state }) => state === "unreachable")).since).toEqual(since);
      isSilent = false;
      const after = await eventually(shown, ({ state }) => state === "following");
      expect(after).toEqual(before);
    }
  } finally {
    await service.stop();
  }
});

it("payments are shown as blocked while the base fee of their network is above its cap", async () => {
  const service = await startChainService();
  try {
    service.startDriver();
    const { tenantId, walletId } = await service.createWallet(await service.createTenant());
    const wallets = createWalletStore(service.keyed, createEventLog({ publish: () => undefined }));
    const present = createWalletPresenter(modelAssets, [modelChainNetwork]);
    const blockedBy = async () => {
      const wallet = await wallets.readWallet(tenantId, walletId);
      return wallet && present(wallet).sending?.blocked_by;
    };
    const { feeCap } = modelChainNetwork;
    for (const [baseFee, expected] of [
      [1n, null],
      [feeCap, null],
      [feeCap + 1n, "fees_above_cap"],
      [feeCap, null],
    ] as const) {
      service.chain.setBaseFee(baseFee);
      service.chain.mine(() => true);
      await eventually(
        async () => (await wallets.readWallet(tenantId, walletId))?.sending?.baseFee,
        (seen) => seen === baseFee,
      );
      expect(await blockedBy()).toBe(expected);
    }
  } finally {
    await service.stop();
  }
});
