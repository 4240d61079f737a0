import { expect, it } from "vitest";
import { createTenantTurns } from "./tenant-turns.js";

const itemsOf = (tenantId: string, count: number) =>
  Array.from({ length: count }, (_, number) => `${tenantId} ${number}`);
const tenantOf = (item: string) => item.split(" ")[0] ?? "";

it("tenants have one item each before one has a second", () => {
  const turns = createTenantTurns<string>(tenantOf);
  const items = [...itemsOf("many", 500), ...itemsOf("few", 2), ...itemsOf("one", 1)];
  expect(turns.choose(items, 6)).toEqual(["many 0", "few 0", "one 0", "many 1", "few 1", "many 2"]);
});

it("tenants that had no turn come before those that had one, however many there are", () => {
  const turns = createTenantTurns<string>(tenantOf);
  const items = Array.from({ length: 10 }, (_, number) => itemsOf(`t${number}`, 100)).flat();
  const chosen = Array.from({ length: 5 }, () => turns.choose(items, 4).map(tenantOf));
  expect(chosen.flat()).toEqual(
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `t${n}`),
  );
});

it("everything is chosen if there is room", () => {
  const turns = createTenantTurns<string>(tenantOf);
  expect(turns.choose([...itemsOf("a", 3), ...itemsOf("b", 1)], 100)).toHaveLength(4);
  expect(turns.choose([], 100)).toEqual([]);
});
