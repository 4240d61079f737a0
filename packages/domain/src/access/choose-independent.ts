import { areIndependent, type Lineage } from "./lineage.js";

/**
 * Enough for any 12 clients, and for many more in the shapes that lineages have. A search among 50 random lineages took 0.6 to
 * 1.3 ms.
 */
const stepsMax = 500;
/** More are counted in the order given. */
const searchedMax = 64;

/**
 * Chooses clients that are independent of each other: a largest set of lineages of which no two meet, by their indexes. Its size does not
 * depend on the order: an approver that is dependent on two others must not keep both of them from counting because it came first. Of sets
 * of one size, the one that is found by going through the lineages in order is preferred. Finding the largest set can take exponential time,
 * so the search is bounded. If it ends early, the set can be too small, never too large.
 */
export function chooseIndependent(lineages: readonly Lineage[]): number[] {
  const distinct = [...new Set(lineages)];
  const inOrder = chooseInOrder(distinct);
  const chosen =
    inOrder.length === distinct.length || distinct.length > searchedMax
      ? inOrder
      : searchLargest(
          distinct.map((one) => distinct.map((other) => !areIndependent(one, other))),
          inOrder,
        );
  return chosen
    .map((index) => lineages.indexOf(distinct[index] as Lineage))
    .sort((one, other) => one - other);
}

function chooseInOrder(lineages: readonly Lineage[]): number[] {
  let union: Lineage = 0n;
  const chosen: number[] = [];
  for (const [index, lineage] of lineages.entries())
    if (areIndependent(union, lineage)) {
      union |= lineage;
      chosen.push(index);
    }
  return chosen;
}

/** The largest independent set of a graph, or `known` if none is larger: branches on the member with the most neighbours. */
function searchLargest(meets: readonly (readonly boolean[])[], known: readonly number[]): readonly number[] {
  let best = known;
  let steps = 0;
  const independentOf = (rest: readonly number[], one: number) =>
    rest.filter((other) => !meets[one]?.[other]);
  const search = (rest: readonly number[], taken: readonly number[]): void => {
    if (taken.length > best.length) best = taken;
    steps += 1;
    if (steps > stepsMax || taken.length + rest.length <= best.length) return;
    const { fewest, most } = findExtremes(meets, rest);
    // A member with at most one neighbour is in a largest set.
    if (fewest.neighbours <= 1) {
      search(independentOf(rest, fewest.member), [...taken, fewest.member]);
      return;
    }
    // Leaving it out comes first, because that is what a good greedy choice does.
    const others = rest.filter((other) => other !== most.member);
    search(others, taken);
    search(independentOf(others, most.member), [...taken, most.member]);
  };
  search([...meets.keys()], []);
  return best;
}

function findExtremes(meets: readonly (readonly boolean[])[], rest: readonly number[]) {
  let fewest = { member: -1, neighbours: Number.POSITIVE_INFINITY };
  let most = { member: -1, neighbours: -1 };
  for (const member of rest) {
    let neighbours = -1;
    for (const other of rest) if (meets[member]?.[other]) neighbours += 1;
    if (neighbours < fewest.neighbours) fewest = { member, neighbours };
    if (neighbours > most.neighbours) most = { member, neighbours };
  }
  return { fewest, most };
}
