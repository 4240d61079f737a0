import type { ChainNetwork } from "../../../../app/chain/chain-network.js";
import {
  type BlockRef,
  NodesDisagreeError,
  NodeUnavailableError,
  type ShownHead,
} from "../../../../app/chain/chain-node.js";
import { ChainMovedError, type ChainStore, type NetworkLease } from "../../../../app/chain/chain-store.js";
import { LeaseLostError } from "../../../../runtime/loops/lease.js";
import { type FollowedChain, NetworkHaltedError, settledOf } from "../driver-context.js";
import { createStallRecords, explainStall, type StallRecordsDeps } from "./stall-records.js";

/** A single step without an answer is nothing to show: a node may be restarted, or slow. */
const missedStepsMin = 2;

/** Another process has the network, or it is halted: that is shown as such. */
const errorsOfOthers = [LeaseLostError, ChainMovedError, NetworkHaltedError];

export interface HeadRecordsDeps extends StallRecordsDeps {
  network: Pick<ChainNetwork, "network">;
  store: Pick<ChainStore, "recordHeads" | "recordSilence" | "recordStall">;
  onError: (error: unknown) => void;
  /** Undefined while it is not held. */
  leaseOf: () => NetworkLease | undefined;
}

export interface HeadRecords {
  /** Runs a step, and stores since when no node has answered if none has in this step and the one before. */
  during: <T>(step: () => Promise<T>) => Promise<T>;
  /** Stores a new head. */
  record: (
    lease: NetworkLease,
    heads: { shown: ShownHead; final: BlockRef; waits?: string | undefined },
  ) => Promise<void>;
  /** Runs the part of a step that settles blocks, and stores since when nothing more could be settled, and why. */
  settling: <P extends { readonly failure: unknown }>(
    chain: FollowedChain,
    part: () => Promise<P>,
  ) => Promise<P>;
  /** Another process may record now, and what was missed under an earlier lease says nothing about now. */
  reset: () => void;
}

/**
 * What all processes show of the heads of a network, and that there are none. Nodes that contradict each other are another fault, which is in
 * the log, and a halt if it stays.
 */
export function createHeadRecords(deps: HeadRecordsDeps): HeadRecords {
  const { network, store, recorder, onError, leaseOf } = deps;
  const stalls = createStallRecords(deps);
  let waits: string | undefined;
  let recordedHead = -1;
  let isHeard = false;
  let missedSteps = 0;
  let silentSince = new Date(0);

  async function miss(): Promise<void> {
    missedSteps += 1;
    if (missedSteps === 1) silentSince = new Date(recorder.now());
    const lease = leaseOf();
    if (missedSteps < missedStepsMin || lease === undefined) return;
    // The next head is recorded even if it is the same, which ends the silence.
    recordedHead = -1;
    await store.recordSilence(lease, silentSince);
  }

  return {
    during: async (step) => {
      isHeard = false;
      try {
        return await step();
      } catch (error) {
        const isSilent = error instanceof NodeUnavailableError && !(error instanceof NodesDisagreeError);
        if (isSilent && !isHeard) await miss().catch(onError);
        throw error;
      }
    },
    settling: async (chain, part) => {
      waits = undefined;
      const progress = await part().catch(async (error: unknown) => {
        const isOfOthers = errorsOfOthers.some((kind) => error instanceof kind);
        const reason = explainStall(error, waits);
        if (!isOfOthers) await stalls.see(chain.lease, settledOf(chain).number, reason).catch(onError);
        throw error;
      });
      const reason = explainStall(progress.failure, waits);
      const stalled = await stalls.see(chain.lease, settledOf(chain).number, reason);
      // A failure is thrown; what nodes only wait for is not.
      if (stalled !== undefined && progress.failure === undefined)
        onError(new NodeUnavailableError(`Nothing more of ${network.network} is settled. ${stalled}`));
      return progress;
    },
    record: async (lease, { shown: { number: headNumber, baseFee }, final, waits: reason }) => {
      isHeard = true;
      waits = reason;
      missedSteps = 0;
      if (headNumber === recordedHead) return;
      const seenAt = new Date(recorder.now());
      await store.recordHeads(lease, { headNumber, finalNumber: final.number, baseFee, seenAt });
      recordedHead = headNumber;
    },
    reset: () => {
      recordedHead = -1;
      missedSteps = 0;
      stalls.reset();
    },
  };
}
