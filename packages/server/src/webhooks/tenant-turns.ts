/**
 * Lets tenants take turns: those that were served longest ago come first, with one item each, then with a second one and so on, so that
 * what one tenant has does not delay another.
 */
export interface TenantTurns<Item> {
  /** At most so many of the items; those of one tenant in the order given. */
  choose: (items: readonly Item[], max: number) => Item[];
}

/** How many tenants are remembered. When there are more, all are forgotten and begin again. */
const rememberedMax = 20_000;

export function createTenantTurns<Item>(tenantOf: (item: Item) => string): TenantTurns<Item> {
  /** The number of the last turn of each tenant. */
  const lastTurn = new Map<string, number>();
  let turns = 0;

  return {
    choose: (items, max) => {
      if (lastTurn.size > rememberedMax) lastTurn.clear();
      const chosen: Item[] = [];
      let waiting = inTurn(items, tenantOf, lastTurn);
      while (waiting.length > 0) {
        for (const own of waiting) {
          const item = own.shift();
          if (item === undefined) continue;
          if (chosen.length === max) return chosen;
          chosen.push(item);
          lastTurn.set(tenantOf(item), ++turns);
        }
        waiting = waiting.filter(({ length }) => length > 0);
      }
      return chosen;
    },
  };
}

/** The items of each tenant, in the order of their turns. */
function inTurn<Item>(
  items: readonly Item[],
  tenantOf: (item: Item) => string,
  lastTurn: ReadonlyMap<string, number>,
): Item[][] {
  const byTenant = new Map<string, Item[]>();
  for (const item of items) {
    const own = byTenant.get(tenantOf(item));
    if (own === undefined) byTenant.set(tenantOf(item), [item]);
    else own.push(item);
  }
  const turnOf = (tenantId: string) => lastTurn.get(tenantId) ?? 0;
  return [...byTenant].sort(([one], [other]) => turnOf(one) - turnOf(other)).map(([, own]) => own);
}
