import { RpcError } from "../rpc-error.js";
import type { ChainState } from "./chain-state.js";
import { type ChainIdentity, createEdr, genesisTime } from "./edr.js";
import { mineFirstBlock } from "./first-block.js";
import { noJournal, openJournal } from "./journal.js";
import { replay } from "./mine.js";
import { createMutex } from "./mutex.js";

export interface ChainOptions {
  readonly identity: ChainIdentity;
  /** Where the journal is kept; without it the chain ends with the process. */
  readonly folder: string | undefined;
  readonly now: () => number;
  /** Called when the EVM and the journal may differ. The process must end: the journal is right. */
  readonly onFatal: (error: unknown) => void;
}

export interface Chain {
  readonly identity: ChainIdentity;
  /** Bytes that were cut off the end of the journal, because they were not a complete line. */
  readonly cutBytes: number;
  /** Runs a task that no other can interrupt: requests, blocks and reorganisations come one after the other. */
  readonly run: <T>(task: (state: ChainState) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

export async function openChain({ identity, folder, now, onFatal }: ChainOptions): Promise<Chain> {
  const opened =
    folder === undefined
      ? { journal: noJournal, identity: undefined, steps: [], cutBytes: 0 }
      : await openJournal(folder);
  refuseOtherIdentity(identity, opened.identity, folder);
  const state = await createState(identity, opened.journal, now);
  if (opened.identity === undefined) await opened.journal.append({ type: "chain", version: 1, identity });
  await replay(state, opened.steps);
  await mineFirstBlock(state);
  const mutex = createMutex();
  return {
    identity,
    cutBytes: opened.cutBytes,
    run: (task) =>
      mutex(async () => {
        try {
          return await task(state);
        } catch (error) {
          if (!(error instanceof RpcError)) onFatal(error);
          throw error;
        }
      }),
    close: () => mutex(opened.journal.close),
  };
}

function refuseOtherIdentity(
  wanted: ChainIdentity,
  stored: ChainIdentity | undefined,
  folder: string | undefined,
): void {
  if (stored === undefined || (stored.chainId === wanted.chainId && stored.kind === wanted.kind)) return;
  throw new Error(
    `${folder} holds a chain of kind ${stored.kind} with the id ${stored.chainId}, not ${wanted.kind} with ${wanted.chainId}. Use another folder, or the stored values.`,
  );
}

async function createState(
  identity: ChainIdentity,
  journal: ChainState["journal"],
  now: () => number,
): Promise<ChainState> {
  const edr = await createEdr(identity);
  const { hash } = (await edr.request("eth_getBlockByNumber", ["0x0", false])) as { hash: string };
  return {
    identity,
    edr,
    journal,
    now,
    blocks: [{ number: 0, hash, timestamp: genesisTime }],
    numberOf: new Map([[hash, 0]]),
    tail: [],
    checkpoints: [],
    stepCount: 0,
    pooled: new Map(),
    lastActive: 0,
    branch: 0,
    baseFee: undefined,
    pool: "mempool",
  };
}
