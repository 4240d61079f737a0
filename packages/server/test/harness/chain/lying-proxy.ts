import type { useDevnet } from "./devnet.js";
import { type HostileNode, resultsOf, startHostileNode } from "./hostile-node.js";

/** What it answers instead of the result. */
export type Lie = (method: string, params: readonly unknown[], result: never) => unknown;

/** A node that has the same chain as the others, and lies about what is in its blocks. */
export async function startLyingNode(
  devnet: ReturnType<ReturnType<typeof useDevnet>>,
  lie: Lie,
): Promise<HostileNode> {
  return await startHostileNode((calls, reply) => {
    const answers = calls.map(async ({ method, params }) => {
      const result = await devnet.request(method, params);
      return lie(method, params, result as never);
    });
    void Promise.all(answers).then((results) =>
      reply(resultsOf(calls, ({ id }) => results[id - (calls[0]?.id ?? 0)])),
    );
  });
}
