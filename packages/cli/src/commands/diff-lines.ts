export interface DiffLine {
  sign: "+" | "-" | " ";
  line: string;
}

const contextLines = 2;

/** What was removed and added between two lists of lines, with some lines around each change. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const all = align(before, after);
  const isNear = all.map((_, at) =>
    all.slice(Math.max(0, at - contextLines), at + contextLines + 1).some(({ sign }) => sign !== " "),
  );
  return all.filter((_, at) => isNear[at]);
}

/** By the longest common subsequence. A policy has some hundred lines, so the whole table is small. */
function align(before: readonly string[], after: readonly string[]): DiffLine[] {
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  for (let at = before.length - 1; at >= 0; at--)
    for (let to = after.length - 1; to >= 0; to--)
      common[at * width + to] =
        before[at] === after[to]
          ? (common[(at + 1) * width + to + 1] ?? 0) + 1
          : Math.max(common[(at + 1) * width + to] ?? 0, common[at * width + to + 1] ?? 0);
  const lines: DiffLine[] = [];
  let [at, to] = [0, 0];
  while (at < before.length || to < after.length) {
    if (at < before.length && to < after.length && before[at] === after[to]) {
      lines.push({ sign: " ", line: before[at] ?? "" });
      at += 1;
      to += 1;
    } else if (
      to >= after.length ||
      (at < before.length && (common[(at + 1) * width + to] ?? 0) >= (common[at * width + to + 1] ?? 0))
    ) {
      lines.push({ sign: "-", line: before[at] ?? "" });
      at += 1;
    } else {
      lines.push({ sign: "+", line: after[to] ?? "" });
      to += 1;
    }
  }
  return lines;
}
