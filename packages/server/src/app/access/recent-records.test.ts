import { expect, it } from "vitest";
import { createRecentRecords } from "./recent-records.js";

it("records with many credentials take the place of more than one", async () => {
  const kept = async (credentials: number) => {
    const records = createRecentRecords<{ id: string; keys: string[] }>();
    const find = records.watch(async (id) => ({ id, keys: Array.from({ length: credentials }, () => "k") }));
    for (let count = 0; count < 10_000; count += 1) await find(`${count}`);
    return Array.from({ length: 10_000 }, (_, id) => records.get(`${id}`)).filter((one) => one !== undefined)
      .length;
  };
  expect(await kept(1)).toBe(10_000);
  expect(await kept(9)).toBe(2500);
});
