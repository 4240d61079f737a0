import type { SendOutcome } from "../../../app/chain/chain-node.js";
import type { RpcOutcome } from "../rpc/read-response.js";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.js";

/** How many transactions are in one request, unless they are sent one by one. */
const batchMax = 100;

/**
 * Gives bytes to all nodes, because one that takes them may not pass them on. On networks without a pool the next one is sent when the one
 * before it is answered. The answers only set the pace: what counts is which hash is in a block.
 */
export function createSend(endpoints: readonly RpcEndpoint[], hasPool: boolean) {
  return async (bytes: readonly string[]): Promise<readonly SendOutcome[]> => {
    const outcomes: SendOutcome[] = [];
    const size = hasPool ? batchMax : 1;
    for (let start = 0; start < bytes.length; start += size)
      outcomes.push(...(await sendToAll(endpoints, bytes.slice(start, start + size))));
    return outcomes;
  };
}

/** Waits until all nodes have answered, or everything is taken. */
async function sendToAll(
  endpoints: readonly RpcEndpoint[],
  bytes: readonly string[],
): Promise<readonly SendOutcome[]> {
  const calls = bytes.map((raw) => ({ method: "eth_sendRawTransaction", params: [raw] }));
  const merged = bytes.map((): SendOutcome => "refused");
  await new Promise<void>((resolve, reject) => {
    let waiting = endpoints.length;
    for (const endpoint of endpoints)
      endpoint.call(calls, "strict").then((answers) => {
        for (const [index, answer] of answers.entries())
          merged[index] = best(merged[index] ?? "unknown", outcomeOf(answer));
        waiting -= 1;
        if (waiting === 0 || merged.every((outcome) => outcome === "taken")) resolve();
      }, reject);
  });
  return [...merged];
}

function outcomeOf(answer: RpcOutcome): SendOutcome {
  if ("error" in answer) return "refused";
  return "result" in answer && typeof answer.result === "string" ? "taken" : "unknown";
}

function best(a: SendOutcome, b: SendOutcome): SendOutcome {
  if (a === "taken" || b === "taken") return "taken";
  return a === "unknown" || b === "unknown" ? "unknown" : "refused";
}
