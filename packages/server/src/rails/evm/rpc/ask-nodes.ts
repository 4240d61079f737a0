import type { Timers } from "../../../runtime/loops/timers.js";
import type { RpcEndpoint } from "./rpc-endpoint.js";
import type { SlowNodes } from "./slow-nodes.js";

interface AskNodesDeps {
  readonly endpoints: readonly RpcEndpoint[];
  readonly timers: Pick<Timers, "after">;
  readonly monotonicMs: () => number;
  readonly slow: SlowNodes;
}

interface AskedNodes<Given> {
  /** `givenUp` is aborted when its answer is not waited for any more. */
  readonly ask: (endpoint: RpcEndpoint, givenUp: AbortSignal) => Promise<Given>;
  /** Whether what has arrived decides, whatever the other nodes say. */
  readonly isDecided: (given: readonly Given[]) => boolean;
  /** Whether a node has answered everything, whatever it says. */
  readonly isAnswered: (given: Given) => boolean;
}

/** Nodes answer at different moments: the others have this long, or twice the time of those that decide. */
const graceMs = 500;
/** The same if most nodes have answered and do not decide: more than one request may take, but a node can need hundreds. */
const undecidedMs = 15_000;
/** The same if nothing can be decided without the others, because some that are not late have failed. */
const neededMs = 45_000;

/**
 * Asks all nodes at once, and goes on when enough of them have answered. A late node is left out for some time, and asked only if the others
 * do not decide: one of three that needs 20 s for an answer would otherwise set the pace of everything. With two nodes both are needed.
 */
export async function askNodes<Given>(
  { endpoints, timers, monotonicMs, slow }: AskNodesDeps,
  { ask, isDecided, isAnswered }: AskedNodes<Given>,
): Promise<ReadonlyMap<string, Given>> {
  const given = new Map<string, Given>();
  const most = Math.floor(endpoints.length / 2) + 1;

  function askSome(asked: readonly RpcEndpoint[], onAnswer: (name: string) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const open = new Map(asked.map(({ name }) => [name, new AbortController()]));
      const beganMs = monotonicMs();
      let end: { readonly isDecided: boolean; readonly cancel: () => void } | undefined;
      const goOn = () => {
        for (const [name, giveUp] of open) {
          slow.seeLate(name);
          giveUp.abort();
        }
        open.clear();
        resolve();
      };
      const endLater = () => {
        if (end?.isDecided === true || given.size < most) return;
        const said = [...given.values()];
        const isDone = isDecided(said);
        if (!isDone && end !== undefined) return;
        end?.cancel();
        const boundMs = said.filter(isAnswered).length < most ? neededMs : undecidedMs;
        const waitedMs = Math.max(isDone ? graceMs : boundMs, 2 * (monotonicMs() - beganMs));
        end = { isDecided: isDone, cancel: timers.after(waitedMs, goOn) };
      };
      const take = (name: string, answer: Given) => {
        if (!open.delete(name)) return;
        given.set(name, answer);
        onAnswer(name);
        if (open.size > 0) return endLater();
        end?.cancel();
        resolve();
      };
      for (const endpoint of asked) {
        const { signal } = open.get(endpoint.name) as AbortController;
        ask(endpoint, signal).then((answer) => take(endpoint.name, answer), reject);
      }
      if (asked.length === 0) resolve();
      else endLater();
    });
  }

  const leftOut = endpoints.filter(({ name }) => endpoints.length > 2 && slow.isLeftOut(name));
  const names = new Set(leftOut.map(({ name }) => name));
  await askSome(
    endpoints.filter(({ name }) => !names.has(name)),
    slow.seeInTime,
  );
  // These have not become faster by being waited for.
  if (leftOut.length > 0 && !isDecided([...given.values()])) await askSome(leftOut, () => undefined);
  return given;
}
