import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { postgresStoreSchema, signTestWebhook, sqliteStoreSchema } from "@bursar/client/webhooks";
import Database from "libsql";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { createTestDatabase } from "../../harness/database/test-database.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";
import { forge, notificationOf } from "./forged-webhooks.js";

const deliveries = Number(process.env["BURSAR_CLIENT_DELIVERIES"] ?? 150);
const killsOfEachPoint = Number(process.env["BURSAR_CLIENT_RECEIVER_KILLS"] ?? 1);
const forged = 200;
/** An end for what hangs, which grows with the size. */
const timeoutMs = 240_000 + deliveries * 500 + killsOfEachPoint * 60_000;
const concurrency = 4;
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const program = fileURLToPath(new URL("receiver-process.mjs", import.meta.url));

/** Where a receiver can be killed: between the steps verify, persist, process and answer, and around the commit of the third. */
const points = ["received", "verified", "persisted", "claimed", "handled", "marked", "answered"];
const commitPoints = ["committing", "committed"];

type Kind = "postgres" | "sqlite" | "journal";
type Item = { sequence: number; forgery?: number };

/** A process that receives; it is killed at the point, or by `kill`. */
async function startReceiver(kind: Kind, place: string, death: { point?: string; visit?: number }) {
  const options = JSON.stringify({ kind, place, secret, ...death });
  const child = spawn(process.execPath, [program, options], { stdio: ["ignore", "pipe", "inherit"] });
  const life = { isOver: false };
  const exited = new Promise<void>((resolve) =>
    child.once("exit", () => {
      life.isOver = true;
      resolve();
    }),
  );
  const { value: port } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const url = `http://127.0.0.1:${port}/`;
  return {
    life,
    send: (headers: Record<string, string>, body: string) => fetch(url, { method: "POST", headers, body }),
    processDue: async () => Number(await (await fetch(url)).text()),
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
    exited,
  };
}
type ReceiverProcess = Awaited<ReturnType<typeof startReceiver>>;

function shuffle<Value>(values: Value[]): Value[] {
  return values
    .map((value) => ({ value, order: Math.random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ value }) => value);
}

/** Sends one; false if it is to be sent again. */
async function deliver(receiver: ReceiverProcess, { sequence, forgery }: Item): Promise<boolean> {
  const sent =
    forgery === undefined
      ? await signTestWebhook({ body: notificationOf(sequence), secrets: [secret] })
      : await forge(forgery, secret, sequence);
  let response: Response;
  let body: string;
  try {
    response = await receiver.send(sent.headers, sent.rawBody);
    body = await response.text();
  } catch {
    // It was killed before it answered.
    return false;
  }
  if (!("reason" in sent)) return response.ok;
  expect({ status: response.status >= 400 && response.status < 500, body: JSON.parse(body) }).toEqual({
    status: true,
    body: { reason: sent.reason },
  });
  return true;
}

/** Sends every delivery three times and the forged ones once, in any order, to receivers that are killed; returns the points of their deaths. */
async function storm(kind: Kind, place: string): Promise<string[]> {
  const queue: Item[] = shuffle([
    ...[1, 2, 3].flatMap(() => Array.from({ length: deliveries }, (_, at) => ({ sequence: at + 1 }))),
    ...Array.from({ length: forged }, (_, forgery) => ({ sequence: deliveries + 1 + forgery, forgery })),
  ]);
  const deaths = shuffle(Array.from({ length: killsOfEachPoint }, () => pointsOf(kind)).flat());
  const visitMax = Math.max(1, Math.floor(deliveries / deaths.length / 2));
  const killedAt: string[] = [];
  while (queue.length > 0) {
    const point = deaths[killedAt.length];
    const visit = 1 + Math.floor(Math.random() * visitMax);
    const receiver = await startReceiver(kind, place, point === undefined ? {} : { point, visit });
    const work = async () => {
      while (!receiver.life.isOver) {
        const next = queue.pop();
        if (next === undefined) return;
        if (!(await deliver(receiver, next))) queue.unshift(next);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    if (point !== undefined && queue.length > 0) {
      await receiver.exited;
      killedAt.push(point);
    }
    await receiver.kill();
  }
  const last = await startReceiver(kind, place, {});
  while ((await last.processDue()) > 0);
  await last.kill();
  return killedAt;
}

const pointsOf = (kind: Kind) => (kind === "journal" ? points : [...points, ...commitPoints]);
const all = Array.from({ length: deliveries }, (_, at) => at + 1);

describe.concurrent(`a receiver that is killed at every point gets ${deliveries} deliveries three times, and ${forged} forged ones`, () => {
  it(
    "processes each once with PostgreSQL",
    async () => {
      const database = await createTestDatabase("empty");
      const pool = new pg.Pool({ connectionString: database.url, max: 1 });
      await pool.query(`CREATE TABLE booked (sequence integer); ${postgresStoreSchema}`);
      const killedAt = await storm("postgres", database.url);
      const { rows } = await pool.query("SELECT sequence FROM booked ORDER BY sequence");
      await pool.end();
      await database.drop();
      expect(rows.map(({ sequence }: { sequence: number }) => sequence)).toEqual(all);
      expect(new Set(killedAt)).toEqual(new Set(pointsOf("postgres")));
    },
    timeoutMs,
  );

  it(
    "processes each once with SQLite",
    async () => {
      const path = join(createTemporaryFolder("receiver-proof"), "receiver.db");
      const database = new Database(path);
      database.exec(`CREATE TABLE booked (sequence integer); ${sqliteStoreSchema}`);
      const killedAt = await storm("sqlite", path);
      const rows = database.prepare("SELECT sequence FROM booked ORDER BY sequence").all();
      database.close();
      expect((rows as { sequence: number }[]).map(({ sequence }) => sequence)).toEqual(all);
      expect(new Set(killedAt)).toEqual(new Set(pointsOf("sqlite")));
    },
    timeoutMs,
  );

  it(
    "books each once with the journal, and calls the handler again only for what was not marked",
    async () => {
      const folder = createTemporaryFolder("receiver-proof");
      mkdirSync(join(folder, "booked"));
      const killedAt = await storm("journal", folder);
      const booked = readdirSync(join(folder, "booked")).map((name) => Number(name.replace("dlv_", "")));
      expect(booked.sort((one, other) => one - other)).toEqual(all);
      const calls = readFileSync(join(folder, "calls"), "utf8").trim().split("\n");
      // One process never calls it twice, and a kill leaves no more unmarked than were being processed.
      expect(new Set(calls).size).toBe(calls.length);
      expect(calls.length - deliveries).toBeLessThanOrEqual(killedAt.length * concurrency);
      expect(new Set(killedAt)).toEqual(new Set(pointsOf("journal")));
    },
    timeoutMs,
  );
});
