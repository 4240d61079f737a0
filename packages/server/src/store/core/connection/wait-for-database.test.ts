import { pino } from "pino";
import { expect, it } from "vitest";
import type { Database } from "../database.js";
import { RefusedServerError } from "../identity/refused-server.js";
import { withAvailableDatabase } from "./wait-for-database.js";

const session = { query: async () => [{ setting: "off" }] };
const database = {
  session: (work: (given: typeof session) => unknown) => Promise.resolve(work(session)),
  assertStores: async () => undefined,
} as unknown as Database;

it("waits for another server than one that is refused, and says why it waits", async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  let isRefused = true;
  await withAvailableDatabase(database, log, new AbortController().signal, async () => {
    if (!isRefused) return;
    isRefused = false;
    throw new RefusedServerError("another installation", {});
  });
  expect(lines.map((line) => JSON.parse(line).reason)).toEqual(["another installation"]);
});
