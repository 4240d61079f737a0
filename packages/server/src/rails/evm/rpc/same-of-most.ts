import type { Attempted, NodeAnswers, Question } from "./rpc-pool.js";

/**
 * Whether more than half of all nodes have found the same, so that no other answer changes who is the larger group. `isLackTold`: that more than half
 * of them do not have it is the same too.
 */
export function isSameOfMost(
  given: readonly (readonly Attempted[])[],
  nodeCount: number,
  isLackTold = false,
): boolean {
  const most = Math.floor(nodeCount / 2) + 1;
  if (given.length < most) return false;
  const [first = []] = given;
  return first.every((_, index) => {
    const counts = new Map<string, number>();
    for (const answers of given) {
      const answer = answers[index];
      if (answer === undefined || !("value" in answer)) continue;
      if (answer.value === undefined && !isLackTold) continue;
      const key = JSON.stringify(answer.value, showBigints) ?? "none";
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values()) >= most;
  });
}

/** For `askEach`: it is not waited for what only less than half of the nodes can have. */
export function isSameOrLacked(
  nodeCount: number,
): (given: readonly NodeAnswers<readonly Question<unknown>[]>[]) => boolean {
  return (given) =>
    isSameOfMost(
      given.flatMap(({ answers }) => ("unavailable" in answers ? [] : [answers])),
      nodeCount,
      true,
    );
}

function showBigints(_: string, value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) return [...value];
  return typeof value === "bigint" ? `${value}n` : value;
}
