// A peer: Fastify and pg as most would write it. One commit a request, and four workers that settle one transaction after the other.
import { setTimeout as sleep } from "node:timers/promises";
import { insertTransaction, inTransaction, openTables, serveTransactions } from "./peer-service.mjs";

const workers = 4;
/** Long enough that an idle peer costs PostgreSQL next to nothing while the others are measured. */
const idleMs = 200;

const pool = await openTables("plain_service");
await serveTransactions(async (parameters) => (await pool.query(insertTransaction, parameters)).rows[0]);
await Promise.all(Array.from({ length: workers }, work));

async function work() {
  for (;;) if (!(await inTransaction(pool, settleOne))) await sleep(idleMs);
}

/** @param {import("pg").PoolClient} client @returns {Promise<boolean>} whether there was one */
async function settleOne(client) {
  const { rows } = await client.query(
    `SELECT id, source, destination, asset, amount FROM transactions WHERE state = 'accepted'
     ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
  );
  const [found] = rows;
  if (found === undefined) return false;
  const { id, source, destination, asset, amount } = found;
  await client.query("UPDATE accounts SET available = available - $3 WHERE wallet = $1 AND asset = $2", [
    source,
    asset,
    amount,
  ]);
  await client.query("UPDATE accounts SET available = available + $3 WHERE wallet = $1 AND asset = $2", [
    destination,
    asset,
    amount,
  ]);
  await client.query("INSERT INTO entries VALUES ($1, $2, $3, $4, $5)", [
    id,
    source,
    destination,
    asset,
    amount,
  ]);
  await client.query("INSERT INTO events (transaction_id, state) VALUES ($1, 'completed')", [id]);
  await client.query("UPDATE transactions SET state = 'completed' WHERE id = $1", [id]);
  return true;
}
