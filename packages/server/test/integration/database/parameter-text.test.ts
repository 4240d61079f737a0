import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase("empty");
});
afterAll(() => database.drop());

it("passes every string to the database unchanged, in an array and alone", async () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme" }).filter((value) => !value.includes("\0")),
    fc.constantFrom("", "null", "NULL", "{}", "{a,b}", '"', "\\", "\\x41", " a ", "a,b", "-", "\n", "é", "𝒳"),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(text)), text, async (items, single) => {
      const [row] = await database.query(sql`SELECT ${items}::text[] AS items, ${single}::text AS single`);
      expect(row).toEqual({ items, single });
    }),
  );
});

it("passes every other kind of value to the database unchanged", async () => {
  const date = new Date("2026-01-31T23:59:59.123Z");
  const bytes = Buffer.from([0, 1, 92, 34, 255]);
  const uuid = "0190a000-0000-7000-8000-0000000000ff";
  const [row] = await database.query(sql`
    SELECT ${[date, null]}::timestamptz[] AS dates, ${date}::timestamptz AS date, ${[bytes]}::bytea[] AS bytes,
      ${[1, 2]}::integer[] AS numbers, ${[123456789012345678901234567890n]}::numeric[]::text[] AS units,
      ${[true, false]}::boolean[] AS flags, ${[uuid]}::uuid[] AS uuids, ${['{"a":"\\"b"}']}::jsonb[] AS documents
  `);
  expect(row).toEqual({
    dates: [date, null],
    date,
    bytes: [bytes],
    numbers: [1, 2],
    units: ["123456789012345678901234567890"],
    flags: [true, false],
    uuids: [uuid],
    documents: [{ a: '"b' }],
  });
});
