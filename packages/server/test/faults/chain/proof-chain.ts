import { type SpawnedDevnet, spawnDevnet } from "@bursar/devnet";

/** What the proof needs of a chain, whatever it runs on. */
export interface ProofChain {
  url: string;
  /** The paths of its nodes, which the service is configured with. */
  nodePaths: readonly string[];
  /** A node without faults, for outsiders, so that what is meant for the service is not used up. */
  outsideUrl: string;
  request: (method: string, params?: readonly unknown[]) => Promise<unknown>;
  fund: (request: { address: string; asset: "ETH" | "USDC"; amount: bigint }) => Promise<unknown>;
  /** It rests when nothing is pending and everything is final. */
  status: () => Promise<{ isResting: boolean; finalized: number }>;
  mine: () => Promise<unknown>;
  reorganise: (depth: number) => Promise<unknown>;
  /** Ends the faults of the nodes' answers. */
  heal: () => Promise<unknown>;
  listPool: () => Promise<readonly unknown[]>;
  stop: () => Promise<unknown>;
}

export interface DevelopmentChain extends ProofChain {
  control: SpawnedDevnet["control"];
}

/** The deepest reorganisation of the proof, which is less than what is final. */
export const reorganisationMax = 8;
const finalDepth = 12;
export const blockTimeMs = 200;

/** Two nodes that can fail and lie. */
export async function startDevelopmentChain(): Promise<DevelopmentChain> {
  const { url, secondUrl, request, control, stop } = await spawnDevnet([
    ...["--block-time-ms", String(blockTimeMs), "--safe-depth", "2", "--final-depth", String(finalDepth)],
  ]);
  return {
    url,
    nodePaths: ["", "/second"],
    outsideUrl: secondUrl,
    request,
    control,
    fund: ({ address, asset, amount }) =>
      control("devnet_fund", { address, asset, amount: amount.toString() }),
    status: () => control("devnet_status", {}),
    mine: () => control("devnet_mine", {}),
    reorganise: (depth) => control("devnet_reorganise", { depth, transactions: "return" }),
    heal: async () => {
      for (const node of ["main", "second"] as const) await control("devnet_clearFaults", { node });
    },
    listPool: () => control("devnet_listPool", {}),
    stop,
  };
}
