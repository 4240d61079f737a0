import {
  type BlockRef,
  NodesDisagreeError,
  NodeUnavailableError,
  type ShownHead,
} from "../../../app/chain/chain-node.js";
import type { ChainStore, NetworkLease } from "../../../app/chain/chain-store.js";

/** A single step without an answer is nothing to show: a node may be restarted, or slow. */
const missedStepsMin = 2;

export interface HeadRecordsDeps {
  store: Pick<ChainStore, "recordHeads" | "recordSilence">;
  recorder: { now: () => number };
  onError: (error: unknown) => void;
  /** Undefined while it is not held. */
  leaseOf: () => NetworkLease | undefined;
}

export interface HeadRecords {
  /** Runs a step, and stores since when no node has answered if none has in this step and the one before. */
  during: <T>(step: () => Promise<T>) => Promise<T>;
  /** Stores a new head. */
  record: (lease: NetworkLease, heads: { shown: ShownHead; final: BlockRef }) => Promise<void>;
  /** Another process may record now, and what was missed under an earlier lease says nothing about now. */
  reset: () => void;
}

/**
 * What all processes show of the heads of a network, and that there are none. Nodes that contradict each other are another fault, which is in
 * the log, and a halt if it stays.
 */
export function createHeadRecords({ store, recorder, onError, leaseOf }: HeadRecordsDeps): HeadRecords {
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
    record: async (lease, { shown: { number: headNumber, baseFee }, final }) => {
      isHeard = true;
      missedSteps = 0;
      if (headNumber === recordedHead) return;
      const seenAt = new Date(recorder.now());
      await store.recordHeads(lease, { headNumber, finalNumber: final.number, baseFee, seenAt });
      recordedHead = headNumber;
    },
    reset: () => {
      recordedHead = -1;
      missedSteps = 0;
    },
  };
}
