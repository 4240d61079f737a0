import type { Timers } from "../../../../runtime/loops/timers.js";
import type { NodeAnswers, Question, RpcPool } from "../../rpc/rpc-pool.js";

/** How often a node is asked that says something else than is configured, and after which time. */
const [timesMax, againMs] = [3, 300];

/**
 * The answers of all nodes. Those that are in doubt are asked for again: of a load balancer a node that lags may have answered, and one that has
 * just been restarted fails for a moment.
 */
export async function askAgain<const Q extends readonly Question<unknown>[]>(
  { pool, timers }: { readonly pool: RpcPool; readonly timers: Pick<Timers, "after"> },
  questions: Q,
  isInDoubt: (given: NodeAnswers<Q>) => boolean,
): Promise<readonly NodeAnswers<Q>[]> {
  let known = await pool.askEach(questions);
  for (let times = 1; times < timesMax && known.some(isInDoubt); times++) {
    await new Promise<void>((resolve) => void timers.after(againMs, resolve));
    const next = new Map((await pool.askEach(questions)).map((given) => [given.name, given]));
    known = known.map((given) => {
      const other = next.get(given.name);
      return isInDoubt(given) && other !== undefined && !("unavailable" in other.answers) ? other : given;
    });
  }
  return known;
}
