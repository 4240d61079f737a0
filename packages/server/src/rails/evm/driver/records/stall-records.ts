import { NodeUnavailableError } from "../../../../app/chain/chain-node.js";
import type { ChainStore, NetworkLease } from "../../../../app/chain/chain-store.js";

export interface StallRecordsDeps {
  store: Pick<ChainStore, "recordStall">;
  recorder: { now: () => number };
  monotonicMs: () => number;
}

export interface StallRecords {
  /**
   * What a step has come to. `reason`: what has prevented that more is settled; undefined if nothing has. Returns the reason if nothing was settled
   * for a minute.
   */
  see: (
    lease: NetworkLease,
    settledNumber: number,
    reason: string | undefined,
  ) => Promise<string | undefined>;
  /** Another process may have recorded since. */
  reset: () => void;
}

/** Nodes reach a block at different moments and are restarted, and a reason can change with each step: it is stored as often at most. */
const toleratedMs = 60_000;
const reasonLengthMax = 1000;

/** Stores why nothing of a network is settled, for all processes to show: otherwise it would stand still and look as if it was followed. */
export function createStallRecords({ store, recorder, monotonicMs }: StallRecordsDeps): StallRecords {
  let settled = -1;
  let began: { at: Date; ms: number } | undefined;
  /** Undefined if it is not known what is stored. */
  let stored: { reason: string | null; ms: number } | undefined;

  return {
    see: async (lease, settledNumber, reason) => {
      const nowMs = monotonicMs();
      if (settledNumber !== settled || reason === undefined) began = undefined;
      settled = settledNumber;
      if (reason === undefined) {
        if (stored?.reason !== null) await store.recordStall(lease, null);
        stored = { reason: null, ms: nowMs };
        return undefined;
      }
      began ??= { at: new Date(recorder.now()), ms: nowMs };
      if (nowMs - began.ms < toleratedMs) return undefined;
      const shown = reason.slice(0, reasonLengthMax);
      const isNew = stored === undefined || stored.reason === null;
      if (isNew || (stored?.reason !== shown && nowMs - (stored?.ms ?? 0) >= toleratedMs)) {
        await store.recordStall(lease, { since: began.at, reason: shown });
        stored = { reason: shown, ms: nowMs };
      }
      return shown;
    },
    reset: () => {
      began = undefined;
      stored = undefined;
    },
  };
}

/** Why a step has not settled more, for those who may not read the log. */
export function explainStall(failure: unknown, waits: string | undefined): string | undefined {
  if (failure === undefined) return waits;
  return failure instanceof NodeUnavailableError
    ? failure.message
    : "A step has failed, and the log of the service says why.";
}
