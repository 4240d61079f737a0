/** What a tenant is ranked by, and how much of what is to be reduced is its own. */
export interface Use {
  cost: number;
  part: number;
}

/** Tenants whose costs differ by less than a fifth are ranked together, so that those with the same use are treated alike. */
const ranksPerDoubling = 4;
/** A cost is not below the lower end of its own rank. */
const rounding = 1e-9;

/**
 * The cost from which tenants are among the heaviest: those that together make half of what is to be reduced, beginning with the most
 * expensive one. Others are left alone, however many tenants there are that use next to nothing; by the average, sixty of these made a
 * tenant one of the heaviest that used a fiftieth of what another did. It takes one pass and no sorting, for any number of tenants.
 */
export function heaviestFrom(uses: Iterable<Use>): number {
  const parts = new Map<number, number>();
  let total = 0;
  for (const { cost, part } of uses) {
    if (cost <= 0) continue;
    const rank = Math.floor(Math.log2(cost) * ranksPerDoubling);
    parts.set(rank, (parts.get(rank) ?? 0) + part);
    total += part;
  }
  let sum = 0;
  for (const rank of [...parts.keys()].sort((left, right) => right - left)) {
    sum += parts.get(rank) ?? 0;
    if (sum > 0 && sum >= total / 2) return 2 ** (rank / ranksPerDoubling) * (1 - rounding);
  }
  return 0;
}
