import pLimit from "p-limit";
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
/** How long the other nodes have after the first one has said something. */
const othersMs = 5000;
/** How many transactions a node can have that it has not answered. What it is not given, it gets when it is sent again. */
const heldMax = 1000;

/**
 * Gives bytes to all nodes, because one that takes them may not pass them on. On networks without a pool the next one is sent when the one
 * before it is answered. The answers only set the pace: what counts is which hash is in a block. So a node that is slower than another is not waited
 * for: one that refused a batch, and then was slow with each part, held up everything for half an hour. It gets what comes meanwhile when it has
 * answered, each transaction once. If it got nothing of that, one that takes everything at once and passes nothing on would hold up all payments.
 */
export function createSend({ endpoints, hasPool, timers }: SendDeps) {
  const nodes = endpoints.map((endpoint) => ({ endpoint, inTurn: pLimit(1), held: new Set<string>() }));

  /** Waits until everything is taken, or all nodes have answered, or one has and the others have had their time. */
  async function sendToAll(bytes: readonly string[]): Promise<readonly SendOutcome[]> {
    const parts = nodes.flatMap((node) => {
      const given = bytes.filter((raw) => !node.held.has(raw)).slice(0, heldMax - node.held.size);
      return given.length === 0 ? [] : [{ ...node, given }];
    });
    const merged = new Map<string, SendOutcome>();
    await new Promise<void>((resolve, reject) => {
      let waiting = parts.length;
      let cancel: (() => void) | undefined;
      const take = (given: readonly string[], answers: readonly RpcOutcome[]) => {
        const outcomes = answers.map(outcomeOf);
        for (const [index, raw] of given.entries())
          merged.set(raw, best(merged.get(raw), outcomes[index] ?? "unknown"));
        waiting -= 1;
        if (waiting === 0 || bytes.every((raw) => merged.get(raw) === "taken")) {
          cancel?.();
          resolve();
        } else if (outcomes.some((outcome) => outcome !== "unknown"))
          cancel ??= timers.after(othersMs, resolve);
      };
      if (parts.length === 0) resolve();
      for (const { endpoint, inTurn, held, given } of parts) {
        for (const raw of given) held.add(raw);
        const calls = given.map((raw) => ({ method: "eth_sendRawTransaction", params: [raw] }));
        inTurn(() => endpoint.call(calls, "strict"))
          .finally(() => {
            for (const raw of given) held.delete(raw);
          })
          .then((answers) => take(given, answers), reject);
      }
    });
    return bytes.map((raw) => merged.get(raw) ?? "unknown");
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

/**
 * What one node has said counts before what another one has not: a node that has the bytes refuses them as known. With one node unavailable that
 * was unknown, so everything in flight was sent to the others again at each look.
 */
function best(a: SendOutcome | undefined, b: SendOutcome): SendOutcome {
  if (a === undefined || a === "unknown") return b;
  return a === "taken" || b === "taken" ? "taken" : a;
}
