import { Value } from "typebox/value";
import type { Chain } from "../chain/chain.js";
import { type BlockRef, headOf } from "../chain/chain-state.js";
import { fund } from "../chain/faucet.js";
import { mineBlock } from "../chain/mine.js";
import type { Miner, MiningMode } from "../chain/miner.js";
import { dropTransactions, listPool, type PooledTransaction } from "../chain/pool.js";
import { type Reorganisation, reorganise } from "../chain/reorganise.js";
import { setBalance, setDataFee } from "../chain/state-changes.js";
import { headsOf } from "../node/block-tags.js";
import type { Finality } from "../node/carry-out.js";
import type { DevnetNode } from "../node/node.js";
import { RpcError, rpcCodes } from "../rpc-error.js";
import { type ControlInput, type ControlName, controlSchemas, type NodeName } from "./control-schemas.js";

/** What the controls answer. */
export interface ControlResults {
  devnet_status: DevnetStatus;
  devnet_setMining: null;
  devnet_mine: readonly BlockRef[];
  devnet_setBaseFee: null;
  devnet_setFinality: null;
  devnet_setPool: null;
  devnet_listPool: readonly PooledTransaction[];
  devnet_dropTransactions: readonly string[];
  devnet_reorganise: Reorganisation;
  devnet_setBalance: null;
  devnet_setDataFee: null;
  devnet_fund: string;
  devnet_setConditions: null;
  devnet_addFault: number;
  devnet_clearFaults: null;
  devnet_listFaults: Readonly<Record<number, number>>;
}

interface DevnetStatus {
  readonly chainId: number;
  readonly kind: "l1" | "op";
  readonly head: BlockRef;
  readonly safe: number;
  readonly finalized: number;
  readonly mining: MiningMode;
  /** Nothing waits for a block, and every transaction is final. */
  readonly isResting: boolean;
  readonly pooled: number;
}

export interface ControlDeps {
  readonly chain: Chain;
  readonly miner: Miner;
  readonly nodes: Readonly<Record<NodeName, DevnetNode>>;
  readonly finality: { depths: Finality };
}

type Handlers = { [N in ControlName]: (input: ControlInput<N>) => Promise<ControlResults[N]> };

/** The controls of the chain, by name. They are not subject to the faults and conditions of the nodes. */
export type Controls = (name: string, params: readonly unknown[]) => Promise<unknown> | undefined;

export function createControls(deps: ControlDeps): Controls {
  const handlers: Handlers = { ...chainControls(deps), ...poolControls(deps), ...nodeControls(deps) };
  return (name, params) => {
    if (!Object.hasOwn(handlers, name)) return undefined;
    return carryOutControl(handlers, name as ControlName, params);
  };
}

async function carryOutControl<N extends ControlName>(
  handlers: Handlers,
  name: N,
  params: readonly unknown[],
): Promise<unknown> {
  const input = params[0] ?? {};
  const schema = controlSchemas[name];
  if (params.length > 1 || !Value.Check(schema, input)) {
    const [fault] = Value.Errors(schema, input);
    const where = fault === undefined ? "takes one object" : `${fault.instancePath || "/"} ${fault.message}`;
    throw new RpcError(rpcCodes.invalidParams, `Invalid params of ${name}: ${where}.`);
  }
  return await handlers[name](input as ControlInput<N>);
}

function chainControls({ chain, miner, finality }: ControlDeps) {
  return {
    devnet_status: () =>
      chain.run(async (state): Promise<DevnetStatus> => {
        const head = headOf(state);
        const { safe, finalized } = headsOf(head.number, finality.depths);
        const pooled = (await listPool(state)).length;
        const resting = { mining: miner.mode(), isResting: miner.isResting() };
        return { ...chain.identity, head, safe, finalized, ...resting, pooled };
      }),
    devnet_setMining: async (mode) => {
      miner.setMode(mode);
      return null;
    },
    devnet_mine: ({ blocks = 1, timestamp, transactions }) =>
      chain.run(async (state) => {
        const mined = [await mineBlock(state, { timestamp, transactions })];
        while (mined.length < blocks) mined.push(await mineBlock(state));
        return mined;
      }),
    devnet_setBaseFee: ({ wei, hold = false }) =>
      chain.run(async (state) => {
        state.baseFee = wei === undefined ? undefined : { wei: BigInt(wei), hold };
        miner.wake();
        return null;
      }),
    devnet_setFinality: async (depths) => {
      if (depths.safeDepth > depths.finalDepth)
        throw new RpcError(rpcCodes.invalidParams, "`safeDepth` must not be larger than `finalDepth`.");
      finality.depths = depths;
      miner.wake();
      return null;
    },
    devnet_reorganise: async (request) => {
      const result = await chain.run((state) => reorganise(state, request));
      miner.wake();
      return result;
    },
    devnet_setBalance: ({ address, wei }) =>
      chain.run(async (state) => {
        await setBalance(state, address, BigInt(wei));
        return null;
      }),
    devnet_setDataFee: (fee) =>
      chain.run(async (state) => {
        await setDataFee(state, {
          baseFee: BigInt(fee.baseFee),
          baseFeeScalar: BigInt(fee.baseFeeScalar),
          blobBaseFee: BigInt(fee.blobBaseFee),
          blobBaseFeeScalar: BigInt(fee.blobBaseFeeScalar),
          operatorFeeScalar: BigInt(fee.operatorFeeScalar),
          operatorFeeConstant: BigInt(fee.operatorFeeConstant),
        });
        return null;
      }),
  } satisfies Partial<Handlers>;
}

function poolControls({ chain, miner }: ControlDeps) {
  return {
    devnet_setPool: ({ mode }) =>
      chain.run(async (state) => {
        state.pool = mode;
        return null;
      }),
    devnet_listPool: () => chain.run(listPool),
    devnet_dropTransactions: ({ hashes }) => chain.run((state) => dropTransactions(state, hashes)),
    devnet_fund: async ({ address, amount, asset }) => {
      const hash = await chain.run((state) => fund(state, { address, amount: BigInt(amount), asset }));
      miner.wake();
      return hash;
    },
  } satisfies Partial<Handlers>;
}

function nodeControls({ nodes }: ControlDeps) {
  return {
    devnet_setConditions: async ({ node, conditions }) => {
      nodes[node].conditions = conditions;
      return null;
    },
    devnet_addFault: async ({ node, fault }) => {
      const number = nodes[node].faults.add(fault);
      if (number === undefined) throw new RpcError(rpcCodes.limitExceeded, "There are too many faults.");
      return number;
    },
    devnet_clearFaults: async ({ node }) => {
      nodes[node].faults.clear();
      return null;
    },
    devnet_listFaults: async ({ node }) => nodes[node].faults.hits(),
  } satisfies Partial<Handlers>;
}
