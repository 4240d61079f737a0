export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
}

/** The table of the longest common part has this many cells at most; longer documents are shown whole, one after the other. */
const cellsMax = 4_000_000;

/** The lines of two documents: what is common once, what only one of them has before what only the other has. */
export function diffLines(before: string, after: string): DiffLine[] {
  const old = before.split("\n");
  const fresh = after.split("\n");
  if (old.length * fresh.length > cellsMax)
    return [...old.map((text) => line("removed", text)), ...fresh.map((text) => line("added", text))];
  const common = lengthsOfCommon(old, fresh);
  const lines: DiffLine[] = [];
  let [at, other] = [0, 0];
  while (at < old.length || other < fresh.length) {
    const left = old[at];
    const right = fresh[other];
    if (left !== undefined && left === right) {
      lines.push(line("same", left));
      at += 1;
      other += 1;
    } else if (
      left !== undefined &&
      (right === undefined || lengthAt(common, at + 1, other) >= lengthAt(common, at, other + 1))
    ) {
      lines.push(line("removed", left));
      at += 1;
    } else {
      lines.push(line("added", right ?? ""));
      other += 1;
    }
  }
  return lines;
}

/** The changed lines with a few around them; null stands for lines that are left out. */
export function withContext(lines: readonly DiffLine[], around = 3): (DiffLine | null)[] {
  const isNear = (index: number) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== "same");
  const shown: (DiffLine | null)[] = [];
  for (const [index, one] of lines.entries())
    if (isNear(index)) shown.push(one);
    else if (shown.length === 0 || shown.at(-1) !== null) shown.push(null);
  return shown;
}

const line = (kind: DiffLine["kind"], text: string): DiffLine => ({ kind, text });
const lengthAt = (table: readonly Uint16Array[], at: number, other: number) => table[at]?.[other] ?? 0;

function lengthsOfCommon(old: readonly string[], fresh: readonly string[]): Uint16Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1));
  for (let at = old.length - 1; at >= 0; at--)
    for (let other = fresh.length - 1; other >= 0; other--) {
      const row = table[at];
      if (row === undefined) continue;
      row[other] =
        old[at] === fresh[other]
          ? lengthAt(table, at + 1, other + 1) + 1
          : Math.max(lengthAt(table, at + 1, other), lengthAt(table, at, other + 1));
    }
  return table;
}
