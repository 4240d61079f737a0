import { openChain } from "./chain/chain.js";
import type { ChainIdentity } from "./chain/edr.js";
import { finaliseFirstBlock } from "./chain/first-block.js";
import { lockFolder } from "./chain/folder-lock.js";
import { createMiner, type MiningMode } from "./chain/miner.js";
import type { NodeName } from "./controls/control-schemas.js";
import { createControls } from "./controls/controls.js";
import type { Call } from "./http/json-rpc.js";
import { startRpcServer } from "./http/rpc-server.js";
import type { Finality } from "./node/carry-out.js";
import { type Answer, createNode, type DevnetNode, settle } from "./node/node.js";

export interface DevnetSettings {
  /** 0 lets the system choose one. */
  readonly port: number;
  readonly folder: string | undefined;
  readonly identity: ChainIdentity;
  readonly mining: MiningMode;
  readonly finality: Finality;
}

export interface RunningDevnet {
  readonly url: string;
  readonly cutBytes: number;
  readonly close: () => Promise<void>;
}

/** Where each node is served, below the URL. */
export const nodePaths = { main: "/", second: "/second" } as const satisfies Record<NodeName, string>;

/** Runs a chain in this process, which can hold only one. */
export async function startDevnet(
  settings: DevnetSettings,
  onFatal: (error: unknown) => void,
): Promise<RunningDevnet> {
  const { folder, identity, mining, port } = settings;
  const unlock = folder === undefined ? () => {} : lockFolder(folder);
  const chain = await openChain({ identity, folder, now: Date.now, onFatal });
  const { finalDepth } = settings.finality;
  // One that mines on request has the blocks that were asked for.
  if (mining.mode === "interval") await chain.run((state) => finaliseFirstBlock(state, finalDepth));
  const finality = { depths: settings.finality };
  const miner = createMiner({
    chain,
    mode: mining,
    finalDepth: () => finality.depths.finalDepth,
    onError: onFatal,
  });
  const newNode = () =>
    createNode({
      chain,
      finality: () => finality.depths,
      monotonicMs: () => performance.now(),
      onSent: miner.wake,
    });
  const nodes = { main: newNode(), second: newNode() };
  const controls = createControls({ chain, miner, nodes, finality });
  const server = await startRpcServer({
    port,
    answer: (path, call) => answer(nodeAt(nodes, path), controls, call),
  });
  // After a restart the last blocks may not be final yet.
  miner.wake();
  const close = async () => {
    miner.stop();
    await server.close();
    await chain.close();
    unlock();
  };
  return { url: server.url, cutBytes: chain.cutBytes, close };
}

function nodeAt(nodes: Readonly<Record<NodeName, DevnetNode>>, path: string): DevnetNode | undefined {
  if (path === nodePaths.main) return nodes.main;
  return path === nodePaths.second ? nodes.second : undefined;
}

function answer(
  node: DevnetNode | undefined,
  controls: ReturnType<typeof createControls>,
  { method, params }: Call,
): Promise<Answer> | undefined {
  if (node === undefined) return undefined;
  const controlled = controls(method, params);
  if (controlled === undefined) return node.answer(method, params);
  return settle(controlled).then((outcome) => ({ outcome, delayMs: 0, status: 200 }));
}
