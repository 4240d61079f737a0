import { describe, expect, it } from "vitest";
import { sql } from "./sql.js";

describe("the sql tag", () => {
  it("makes parameters of values, whatever they hold", () => {
    const { text, values } = sql`SELECT ${"'; DROP TABLE clients"}, ${null}, ${[1, 2]}`;
    expect([text, values]).toEqual(["SELECT $1, $2, $3", ["'; DROP TABLE clients", null, [1, 2]]]);
  });

  it("takes a statement as a part, and counts its parameters on", () => {
    const inner = sql`b = ${2} AND c = ${sql`lower(${"C"})`}`;
    const { text, values } = sql`SELECT a WHERE a = ${1} AND ${inner} AND d = ${4} ${sql``}`;
    expect(text).toBe("SELECT a WHERE a = $1 AND b = $2 AND c = lower($3) AND d = $4 ");
    expect(values).toEqual([1, 2, "C", 4]);
  });
});
