// A peer: Fastify and pg-boss. A request stores the transaction and its job in one commit; four workers fetch up to 100 jobs and settle
// them in one SQL transaction. They fetch in a loop, because the library's own worker asks at most twice a second.
import { setTimeout as sleep } from "node:timers/promises";
import PgBoss from "pg-boss";
import { insertTransaction, inTransaction, openTables, serveTransactions } from "./peer-service.mjs";

const workers = 4;
const batchSize = 100;
/** Long enough that an idle peer costs PostgreSQL next to nothing while the others are measured. */
const idleMs = 200;
const queue = "settle";

const pool = await openTables("boss_service");
const boss = new PgBoss({ db: usingClient(pool), schema: "pgboss", schedule: false });
boss.on("error", (error) => console.error(error));
await boss.start();
await boss.createQueue(queue);
await serveTransactions((parameters) =>
  inTransaction(pool, async (client) => {
    const { rows } = await client.query(insertTransaction, parameters);
    if (rows.length > 0) await boss.send(queue, { id: parameters[0] }, { db: usingClient(client) });
    return rows[0];
  }),
);
await Promise.all(Array.from({ length: workers }, work));

async function work() {
  for (;;) {
    const jobs = /** @type {{ id: string, data: { id: string } }[]} */ (
      (await boss.fetch(queue, { batchSize })) ?? []
    );
    if (jobs.length > 0) await inTransaction(pool, (client) => settleMany(client, jobs));
    else await sleep(idleMs);
  }
}

/** @param {import("pg").PoolClient} client @param {{ id: string, data: { id: string } }[]} jobs */
async function settleMany(client, jobs) {
  const ids = jobs.map(({ data }) => data.id);
  // In one order, so that two workers cannot wait for each other.
  await client.query("SELECT FROM accounts ORDER BY wallet, asset FOR UPDATE");
  await client.query(
    `UPDATE accounts a SET available = a.available + s.change FROM (
       SELECT wallet, asset, sum(change) AS change FROM transactions t,
         LATERAL (VALUES (t.source, -t.amount), (t.destination, t.amount)) AS moved (wallet, change)
       WHERE t.id = ANY ($1) GROUP BY wallet, asset) s
     WHERE a.wallet = s.wallet AND a.asset = s.asset`,
    [ids],
  );
  await client.query(
    "INSERT INTO entries SELECT id, source, destination, asset, amount FROM transactions WHERE id = ANY ($1)",
    [ids],
  );
  await client.query("INSERT INTO events (transaction_id, state) SELECT unnest($1::uuid[]), 'completed'", [
    ids,
  ]);
  await client.query("UPDATE transactions SET state = 'completed' WHERE id = ANY ($1)", [ids]);
  await boss.complete(
    queue,
    jobs.map(({ id }) => id),
    { db: usingClient(client) },
  );
}

/** @param {import("pg").Pool | import("pg").PoolClient} client */
function usingClient(client) {
  return {
    /** @param {string} text @param {any[]} values */
    executeSql: (text, values) => client.query(text, values),
  };
}
