import { expect, it } from "vitest";
import {
  type ChainNode,
  type Heads,
  NodesDisagreeError,
  NodeUnavailableError,
} from "../../../../src/app/chain/chain-node.js";
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

it("a network whose nodes answer, and of which nothing more is settled, is shown as stalled, with the reason", async () => {
  const service = await startChainService();
  try {
    const waits = "2 nodes must agree about the final block, and only Node 1 gives one.";
    let skewMs = 0;
    let final: Heads["final"] | undefined;
    let failing: string | undefined;
    const node: ChainNode = {
      ...service.node,
      heads: async (settled) => {
        const heads = await service.node.heads(settled);
        return "halt" in heads || final === undefined ? heads : { ...heads, final, waits };
      },
      finalHeaders: async (numbers) => {
        if (failing !== undefined) throw new NodesDisagreeError(failing);
        return await service.node.finalHeaders(numbers);
      },
    };
    const shown = async () => {
      const [network] = await readNetworks(service.keyed, [modelNetwork]);
      const { state, stalledReason: reason, stalledSince: since } = network ?? {};
      return { state, reason, isSince: since instanceof Date };
    };
    const until = async (wanted: string) => await eventually(shown, ({ state }) => state === wanted);
    service.startDriver({ node, monotonicMs: () => performance.now() + skewMs });
    await until("following");
    const first = await service.node.heads();
    if ("halt" in first) throw new Error(first.halt);
    final = first.final;
    for (let block = 0; block < 9; block++) service.chain.mine(() => true);
    await eventually(
      async () => (await service.store.readPosition(modelNetwork))?.tail.at(-1)?.hash,
      (hash) => hash === service.chain.head().hash,
    );
    expect(await shown()).toEqual({ state: "following", reason: null, isSince: false });
    skewMs += 61_000;
    expect(await until("stalled")).toEqual({ state: "stalled", reason: waits, isSince: true });
    await eventually(
      async () => service.errors.map(String),
      (errors) => errors.some((error) => error.endsWith(`is settled. ${waits}`)),
    );
    failing = "Node 1 and Node 2 disagree about block 3, which is final.";
    final = undefined;
    skewMs += 61_000;
    await eventually(shown, ({ reason }) => reason === failing);
    failing = undefined;
    expect(await until("following")).toEqual({ state: "following", reason: null, isSince: false });
    await service.stopDrivers();
    expect(await until("waiting")).toEqual({ state: "waiting", reason: null, isSince: false });
  } finally {
    await service.stop();
  }
});
