export const sliceItems = 25;

/**
 * Starts a few items in each turn of the event loop: checking and judging 1000 took 150 ms, in which nobody else was served. What the items
 * wait for, such as the commit, overlaps. Every slice but the first waits for its turn.
 */
export async function settleInSlices<Item, Result>(
  items: readonly Item[],
  settle: (item: Item, index: number) => Promise<Result>,
  nextTurn: () => Promise<void>,
): Promise<PromiseSettledResult<Result>[]> {
  const slices: Promise<PromiseSettledResult<Result>[]>[] = [];
  for (let start = 0; start < items.length; start += sliceItems) {
    if (start > 0) await nextTurn();
    const slice = items.slice(start, start + sliceItems);
    slices.push(Promise.allSettled(slice.map((item, index) => settle(item, start + index))));
  }
  return (await Promise.all(slices)).flat();
}
