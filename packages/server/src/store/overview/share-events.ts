/**
 * How many events of each log are read in one step: the same number, but what a short log does not need goes to the longer ones, so that one
 * busy tenant among many quiet ones is read in few steps. At least one of each.
 */
export function shareEvents(lengths: readonly number[], eventsMax: number): number[] {
  const shares = lengths.map(() => 1);
  let left = eventsMax;
  const shortestFirst = [...lengths.entries()].sort(([, one], [, other]) => one - other);
  for (const [place, [index, length]] of shortestFirst.entries()) {
    const share = Math.max(1, Math.min(length, Math.floor(left / (lengths.length - place))));
    shares[index] = share;
    left -= share;
  }
  return shares;
}
