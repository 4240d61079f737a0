import type { Command } from "../commands/command.js";

/** The command that the first words name, and the words after it; the longest name wins. */
export function findCommand(
  commands: readonly Command[],
  args: readonly string[],
): { command: Command; rest: string[] } | undefined {
  const words: string[] = [];
  for (const word of args) {
    if (word.startsWith("-") || words.length === 2) break;
    words.push(word);
  }
  for (let count = words.length; count > 0; count--) {
    const command = commands.find(({ path }) => path === words.slice(0, count).join(" "));
    if (command !== undefined) return { command, rest: args.slice(count) };
  }
  return undefined;
}

/** The command whose name is most similar, for a typing error. */
export function nearest(names: readonly string[], typed: string): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: distance(name, typed) }))
    .sort((one, other) => one.distance - other.distance);
  return best !== undefined && best.distance <= 2 ? best.name : undefined;
}

/** The number of insertions, deletions and replacements between two words. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at++) {
    const next = [at];
    for (let to = 1; to <= other.length; to++)
      next[to] = Math.min(
        (next[to - 1] ?? 0) + 1,
        (row[to] ?? 0) + 1,
        (row[to - 1] ?? 0) + (one[at - 1] === other[to - 1] ? 0 : 1),
      );
    row = next;
  }
  return row[other.length] ?? 0;
}
