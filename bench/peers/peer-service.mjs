// What both peer services have in common: their tables, and the route that accepts a transaction.
import { randomUUID } from "node:crypto";
import Fastify from "fastify";
import pg from "pg";
import { CreateTransactionBody, Transaction } from "./schemas.mjs";

/** @typedef {{ id: string, source: string, destination: string, asset: string, amount: string }} Accepted */

const [, , port, sampleText = "{}", databaseUrl, token] = process.argv;
const sample = JSON.parse(sampleText);

/** As many connections as answer 64 clients well; more made it slower. */
const connectionsMax = 20;

/** @param {string} schema */
export async function openTables(schema) {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: connectionsMax,
    options: `-c search_path=${schema}`,
  });
  // PostgreSQL is stopped before this process is.
  pool.on("error", () => undefined);
  await pool.query(`
    CREATE SCHEMA ${schema};
    CREATE TABLE transactions (
      id uuid PRIMARY KEY, idempotency_key text NOT NULL UNIQUE, reference text NOT NULL, source text NOT NULL,
      destination text NOT NULL, asset text NOT NULL, amount numeric NOT NULL, state text NOT NULL DEFAULT 'accepted',
      created_at timestamptz NOT NULL DEFAULT now());
    CREATE INDEX transactions_accepted ON transactions (created_at) WHERE state = 'accepted';
    CREATE TABLE accounts (wallet text, asset text, available numeric NOT NULL CHECK (available >= 0), PRIMARY KEY (wallet, asset));
    INSERT INTO accounts VALUES ('primary', 'USD', 1e12), ('settlement', 'USD', 0);
    CREATE TABLE entries (transaction_id uuid PRIMARY KEY, debit text, credit text, asset text, amount numeric);
    CREATE TABLE events (
      sequence bigserial PRIMARY KEY, transaction_id uuid NOT NULL, state text NOT NULL, occurred_at timestamptz NOT NULL DEFAULT now());
    CREATE INDEX events_by_transaction ON events (transaction_id)`);
  return pool;
}

/** Inserts nothing if the key is known. */
export const insertTransaction = `
  INSERT INTO transactions (id, idempotency_key, reference, source, destination, asset, amount)
  VALUES ($1, $2, $3, 'primary', 'settlement', $4, $5) ON CONFLICT (idempotency_key) DO NOTHING RETURNING created_at`;

/**
 * @param {(parameters: unknown[]) => Promise<{ created_at: Date } | undefined>} accept stores a transaction durably; nothing if its
 *   key is known
 */
export async function serveTransactions(accept) {
  const app = Fastify();
  app.post(
    "/v1/transactions",
    { schema: { body: CreateTransactionBody, response: { 202: Transaction } } },
    async (request, reply) => {
      if (request.headers.authorization !== `Bearer ${token}`) throw refusal(401);
      const { reference, asset, amount } = /** @type {Accepted & { reference: string }} */ (request.body);
      const id = randomUUID();
      const stored = await accept([id, request.headers["idempotency-key"], reference, asset, amount]);
      if (stored === undefined) throw refusal(409);
      return reply.code(202).send({ ...sample, id, reference, created_at: stored.created_at.toISOString() });
    },
  );
  app.get("/readyz", async () => ({}));
  await app.listen({ port: Number(port), host: "127.0.0.1" });
}

/** @param {number} statusCode */
function refusal(statusCode) {
  return Object.assign(new Error("refused"), { statusCode });
}

/**
 * Runs the work in one SQL transaction.
 * @template T @param {import("pg").Pool} pool @param {(client: import("pg").PoolClient) => Promise<T>} work @returns {Promise<T>}
 */
export async function inTransaction(pool, work) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}
