import { copyFileSync } from "node:fs";
import { join } from "node:path";
import {
  createPostgresStore,
  createReceiver,
  type Notification,
  openJournalStore,
  postgresStoreSchema,
  type Receiver,
  type ReceiverStore,
  type SqlTransaction,
  signTestWebhook,
} from "@bursar/client/webhooks";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { createTestDatabase } from "../../harness/database/test-database.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";

const deliveries = Number(process.env["BURSAR_CLIENT_DELIVERIES"] ?? 300);
const forged = 200;
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const concurrency = 4;
const lifeInSteps = 150;

/** A process that dies at a step: whatever it asks of its surroundings afterwards fails. */
function createLife(steps: number) {
  let left = steps;
  const killed = new Error("killed");
  return {
    isOver: () => left <= 0,
    step: () => {
      left -= 1;
      if (left <= 0) throw killed;
    },
  };
}
type Life = ReturnType<typeof createLife>;

interface Incarnation {
  receiver: Receiver;
  end: () => Promise<void>;
}

interface Proof {
  start: (life: Life) => Promise<Incarnation>;
}

function bodyOf(sequence: number): Notification {
  return {
    event: "transaction.updated",
    delivery_id: `dlv_${sequence}`,
    sequence,
    occurred_at: "2026-11-16T00:00:00Z",
    actor: { type: "service", client_id: null },
    data: { transaction: { id: `tx_${sequence}`, version: 2 }, previous_state: "accepted" },
  } as unknown as Notification;
}

function shuffle<Item>(items: Item[]): Item[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ item }) => item);
}

/** Sends every delivery three times, in any order, to receivers that die, until each was answered with 2xx three times. */
async function storm({ start }: Proof): Promise<number> {
  const queue = shuffle(
    [1, 2, 3].flatMap(() =>
      Array.from({ length: deliveries }, (_, at) => ({ sequence: at + 1, isForged: false })),
    ),
  );
  for (let at = 0; at < forged; at++) queue.push({ sequence: deliveries + 1 + at, isForged: true });
  let lives = 0;
  while (queue.length > 0) {
    lives += 1;
    const life = createLife(Math.ceil(lifeInSteps * (0.2 + Math.random())));
    const incarnation = await start(life);
    const send = async () => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const { headers, rawBody } = await signTestWebhook({
          body: bodyOf(next.sequence),
          secrets: [secret],
        });
        const body = next.isForged ? rawBody.replace("accepted", "rejected") : rawBody;
        const { status } = await incarnation.receiver.receive({ headers, rawBody: body });
        if (next.isForged) expect(status).toBe(401);
        // The answer of a dead process does not arrive.
        else if (life.isOver() || status >= 300) queue.unshift(next);
        if (life.isOver()) return;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, send));
    await incarnation.end();
  }
  const last = await start(createLife(Number.POSITIVE_INFINITY));
  while ((await last.receiver.processDue()) > 0);
  await last.end();
  return lives;
}

/** Lets every call of a store be the last one, before or after it. */
function mortal<Context>(store: ReceiverStore<Context>, life: Life): ReceiverStore<Context> {
  const guard =
    <Args extends unknown[], Value>(call: (...args: Args) => Promise<Value>) =>
    async (...args: Args) => {
      life.step();
      const value = await call(...args);
      life.step();
      return value;
    };
  return { ...store, save: guard(store.save), process: guard(store.process), fail: guard(store.fail) };
}

describe("a receiver that is killed between any two steps", () => {
  it(`processes ${deliveries} deliveries, each three times, once with PostgreSQL`, async () => {
    const database = await createTestDatabase("empty");
    const admin = new pg.Pool({ connectionString: database.url, max: 1 });
    await admin.query(`CREATE TABLE booked (sequence integer); ${postgresStoreSchema}`);
    const lives = await storm({
      start: async (life) => {
        const pool = new pg.Pool({ connectionString: database.url, max: concurrency });
        pool.on("error", () => undefined);
        const store = createPostgresStore({
          connect: async () => {
            life.step();
            const connection = await pool.connect();
            return {
              // Each statement, also COMMIT, can be the last, before the server has it or after.
              query: async (text: string, values?: unknown[]) => {
                life.step();
                const result = await connection.query(text, values as unknown[]);
                life.step();
                return result;
              },
              release: (error) => connection.release(life.isOver() ? true : error),
            };
          },
        });
        return {
          receiver: createReceiver<SqlTransaction>({
            secrets: [secret],
            store,
            handle: async ({ sequence }, sql) => {
              await sql.query("INSERT INTO booked VALUES ($1)", [sequence]);
            },
          }),
          end: () => pool.end(),
        };
      },
    });
    const { rows } = await admin.query("SELECT sequence FROM booked ORDER BY sequence");
    expect(rows.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      Array.from({ length: deliveries }, (_, at) => at + 1),
    );
    expect(lives).toBeGreaterThan(5);
    await admin.end();
    await database.drop();
  });

  it(`processes ${deliveries} deliveries, each three times, with the journal, twice only if it died in between`, async () => {
    const folder = createTemporaryFolder("receiver-proof");
    const handled = new Map<number, number>();
    let unmarked = 0;
    let generation = 0;
    await storm({
      start: async (life) => {
        generation += 1;
        const path = join(folder, `${generation}.jsonl`);
        const store = await openJournalStore(path, { compactAfterLines: 200 });
        return {
          receiver: createReceiver<undefined>({
            secrets: [secret],
            store: mortal(store, life),
            handle: ({ sequence }) => {
              life.step();
              handled.set(sequence, (handled.get(sequence) ?? 0) + 1);
              if (life.isOver()) return;
              try {
                life.step();
              } catch (error) {
                unmarked += 1;
                throw error;
              }
            },
          }),
          end: async () => {
            // The next process finds the file as this one has left it, also in the middle of a write.
            copyFileSync(path, join(folder, `${generation + 1}.jsonl`));
            await store.close();
          },
        };
      },
    });
    expect(handled.size).toBe(deliveries);
    const repeated = [...handled.values()].reduce((sum, count) => sum + count - 1, 0);
    expect(repeated).toBeLessThanOrEqual(unmarked);
  });
});
