import type { SendOutcome } from "../../../app/chain/chain-node.js";
import type { Timers } from "../../../runtime/loops/timers.js";
import type { RpcOutcome } from "../rpc/read-response.js";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.js";

export interface SendDeps {
  readonly endpoints: readonly RpcEndpoint[];
  readonly hasPool: boolean;
  readonly timers: Pick<Timers, "after">;
}

/** How many transactions are in one request, unless they are sent one by one. */
const batchMax = 100;
/** How long the other nodes have after the first one has answered. */
const othersMs = 5000;

/**
 * Gives bytes to all nodes, because one that takes them may not pass them on. On networks without a pool the next one is sent when the one
 * before it is answered. The answers only set the pace: what counts is which hash is in a block. So a node that is slower than another is not waited
 * for, and gets nothing more until it has answered: one that refused a batch, and then was slow with each part, held up everything for half an hour.
 */
export function createSend({ endpoints, hasPool, timers }: SendDeps) {
  const busy = new Set<RpcEndpoint>();

  /** Waits until everything is taken, or all nodes have answered, or one has and the others have had their time. */
  async function sendToAll(bytes: readonly string[]): Promise<readonly SendOutcome[]> {
    const calls = bytes.map((raw) => ({ method: "eth_sendRawTransaction", params: [raw] }));
    const free = endpoints.filter((endpoint) => !busy.has(endpoint));
    if (free.length === 0) return bytes.map(() => "unknown");
    const merged = bytes.map((): SendOutcome => "refused");
    await new Promise<void>((resolve, reject) => {
      let waiting = free.length;
      let cancel: (() => void) | undefined;
      const take = (answers: readonly RpcOutcome[]) => {
        for (const [index, answer] of answers.entries())
          merged[index] = best(merged[index] ?? "unknown", outcomeOf(answer));
        waiting -= 1;
        if (waiting > 0 && !merged.every((outcome) => outcome === "taken")) {
          cancel ??= timers.after(othersMs, resolve);
          return;
        }
        cancel?.();
        resolve();
      };
      for (const endpoint of free) {
        busy.add(endpoint);
        endpoint
          .call(calls, "strict")
          .finally(() => busy.delete(endpoint))
          .then(take, reject);
      }
    });
    return [...merged];
  }

  return async (bytes: readonly string[]): Promise<readonly SendOutcome[]> => {
    const outcomes: SendOutcome[] = [];
    const size = hasPool ? batchMax : 1;
    for (let start = 0; start < bytes.length; start += size)
      outcomes.push(...(await sendToAll(bytes.slice(start, start + size))));
    return outcomes;
  };
}

function outcomeOf(answer: RpcOutcome): SendOutcome {
  if ("error" in answer) return "refused";
  return "result" in answer && typeof answer.result === "string" ? "taken" : "unknown";
}

function best(a: SendOutcome, b: SendOutcome): SendOutcome {
  if (a === "taken" || b === "taken") return "taken";
  return a === "unknown" || b === "unknown" ? "unknown" : "refused";
}
