import { setImmediate as nextTurn } from "node:timers/promises";
import type { Has, PlainRequest } from "./plain-server.js";

const hangUpFaults = ["hung-up-key-forgotten", "hung-up-carried-out-twice", "hung-up-lost"] as const;
/**
 * How long a request is worked on, if that is the fault, so that its client can be gone before the end. Turns of the event loop, and not
 * milliseconds: the client is in the same process, so a busy machine changes nothing, and other requests do not become slow.
 */
const workTurns = 12;

/** Faults of requests whose client does not wait for the answer. */
export function createPlainHangUps(has: Has) {
  const atWork = new Map<string, Promise<boolean>>();
  return {
    /** Works on the request with this key. Resolves to whether its client is gone in the end. */
    work: async (key: string, { socket }: PlainRequest): Promise<boolean> => {
      if (!hangUpFaults.some(has)) return false;
      const work = (async () => {
        for (let turn = 0; turn < workTurns; turn += 1) await nextTurn();
        return socket.destroyed;
      })();
      atWork.set(key, work);
      return work;
    },
    /** Waits for an earlier request with this key. Resolves to whether it is forgotten because its client is gone. */
    isForgotten: async (key: string): Promise<boolean> => {
      const isGone = has("hung-up-carried-out-twice") && (await atWork.get(key)) === true;
      if (isGone) atWork.delete(key);
      return isGone;
    },
  };
}
