// What the sides of a scenario do: requests by wrk, rows by pgbench, work for the engine; and which processes take part.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { runPgbench, runWrk } from "./programs.mjs";

/** @typedef {import("./sandbox.mjs").Sandbox} Sandbox */
/** @typedef {import("./peers.mjs").Peer} Peer */

const script = (/** @type {string} */ name) => join(import.meta.dirname, "load", name);

/**
 * The processes of a sandbox and the load generator, which is this process and what it runs.
 * @param {Sandbox} sandbox @param {readonly { pid: number }[]} [others] other processes that this one has started
 */
export function processesOf(sandbox, others = []) {
  return {
    service: { pid: sandbox.pid },
    PostgreSQL: { pid: sandbox.postgresPid, children: true },
    ...generator([sandbox, ...others]),
  };
}

/** @param {Peer} peer @param {Sandbox} sandbox whose PostgreSQL it may use @param {readonly Peer[]} [others] */
export function processesOfPeer(peer, sandbox, others = []) {
  return { ...processesOf(sandbox, [peer, ...others]), service: { pid: peer.pid } };
}

/** @param {readonly { pid: number }[]} started */
function generator(started) {
  return {
    "load generator": { pid: process.pid, children: true, except: started.map(({ pid }) => pid) },
  };
}

/**
 * Keys are in order by default. Random ones touch the whole of their index, as those of clients do.
 * @param {string} url @param {string} token @param {number} seconds @param {"ordered" | "random"} [keys]
 */
export function createTransactions(url, token, seconds, keys = "ordered") {
  const env = { BENCH_TOKEN: token, BENCH_KEYS: keys, ...ownKeys() };
  return runWrk({ url, script: script("create.lua"), seconds, env });
}

/** Counts items, not requests. @param {Sandbox} sandbox @param {number} seconds */
export async function createBatches({ url, token }, seconds) {
  const env = { BENCH_TOKEN: token, ...ownKeys() };
  const requests = await runWrk({ url, script: script("batch.lua"), seconds, connections: 4, env });
  return { perSecond: 1000 * requests.perSecond, operations: 1000 * requests.operations };
}

/** Deliveries that are left after a measurement do not burden the next. @param {import("pg").Client} database */
export async function dropDeliveries(database) {
  await database.query("DELETE FROM delivery_backlogs");
  await database.query("DELETE FROM pending_deliveries");
  // What the senders have read already.
  await sleep(2000);
}

/** @param {string} url @param {string} token @param {readonly string[]} ids @param {number} seconds */
export async function readTransactions(url, token, ids, seconds) {
  const folder = mkdtempSync(join(tmpdir(), "bursar-bench-"));
  const file = join(folder, "ids");
  writeFileSync(file, ids.join("\n"));
  try {
    return await runWrk({
      url,
      script: script("read.lua"),
      seconds,
      env: { BENCH_TOKEN: token, BENCH_IDS: file, BENCH_START: `${Math.floor(Math.random() * ids.length)}` },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The newest of them. @param {Sandbox} sandbox @param {number} count @returns {Promise<string[]>} */
export async function listIds({ client }, count) {
  /** @type {string[]} */
  const ids = [];
  for await (const { id } of client.transactions.list({ limit: 200 })) {
    ids.push(id);
    if (ids.length === count) break;
  }
  return ids;
}

/** Each run has keys of its own. */
function ownKeys() {
  return { BENCH_PREFIX: `${process.hrtime.bigint()}-` };
}

/** Rows of the same shape and indexes as an accepted transaction. @param {Sandbox} sandbox */
export async function prepareInsertTable({ databaseUrl }) {
  const database = await connect(databaseUrl);
  await database.query("CREATE TABLE bench_transactions (LIKE transactions INCLUDING ALL)");
  await database.end();
}

/** One row a commit. @param {Sandbox} sandbox @param {number} seconds */
export function insertRows({ databaseUrl }, seconds) {
  return runPgbench(databaseUrl, ["-f", script("insert.sql")], seconds);
}

/** The tenant that the load generator acts for, and its two wallets. */
export const sandboxTenant = `
  SELECT t.id AS tenant_id, p.id AS source, s.id AS destination FROM tenants t
  JOIN wallets p ON p.tenant_id = t.id AND p.role = 'primary'
  JOIN wallets s ON s.tenant_id = t.id AND s.role = 'settlement'
  WHERE t.name = 'sandbox'`;

/** @param {string} url */
export async function connect(url) {
  const database = new pg.Client(url);
  // A lost connection fails the statement that waits for it; without a listener this event would end the process.
  database.on("error", () => undefined);
  await database.connect();
  return database;
}

/** Gives the engine accepted transactions all at once. @param {Sandbox} sandbox @param {import("pg").Client} database @param {number} count */
export async function acceptBacklog(sandbox, database, count) {
  const { rows } = await database.query(
    `WITH tenant AS (${sandboxTenant}) SELECT tenant_id, uuidv7() AS id, source, destination FROM tenant, generate_series(1, $1)`,
    [count],
  );
  const { keyId, macs } = await sealBacklog(sandbox, rows);
  const { rows: columns } = await database.query(
    "SELECT FROM information_schema.columns WHERE table_name = 'transactions' AND column_name = 'mac'",
  );
  // A version before MACs, to compare with.
  const hasMacs = columns.length > 0;
  await database.query(
    `WITH tenant AS (${sandboxTenant}),
     made AS (
       INSERT INTO transactions
         (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount, source_account_id, destination_account_id, created_at
          ${hasMacs ? ", key_id, mac" : ""})
       SELECT tenant_id, given.id, gen_random_uuid()::text, '\\x00', tenant_id, 'bench', 'USD', 1, source, destination, now()
         ${hasMacs ? ", $2::text, decode(given.mac, 'hex')" : ""}
       FROM tenant, unnest($1::uuid[], $3::text[]) AS given (id, mac) WHERE $2::text <> '' RETURNING tenant_id, id)
     INSERT INTO open_transactions SELECT tenant_id, id, 'accepted', 1 FROM made`,
    [rows.map(({ id }) => id), keyId, macs],
  );
}

/**
 * The MACs that the service would have given them: it settles nothing without.
 * @param {Sandbox} sandbox @param {{ tenant_id: string, id: string, source: string, destination: string }[]} rows
 */
async function sealBacklog({ dataDir }, rows) {
  const server = join(import.meta.dirname, "../packages/server/dist");
  const { readMasterKeys } = await import(join(server, "credentials/master-key.js"));
  const { macOfTransaction } = await import(join(server, "store/transactions/transaction-integrity.js"));
  const keyring = readMasterKeys(join(dataDir, "master.key"));
  const keys = { currentId: keyring.current.id, derive: keyring.derive };
  const macs = rows.map(({ tenant_id, id, source, destination }) =>
    macOfTransaction(keys, {
      ...{
        tenantId: tenant_id,
        id,
        kind: "transfer",
        clientId: tenant_id,
        network: "book",
        asset: "USD",
        amount: "1",
      },
      ...{ sourceAccountId: source, destinationAccountId: destination, destinationAddress: null },
      ...{ expiresAt: null, needsJudgement: false },
    }).mac.toString("hex"),
  );
  return { keyId: keys.currentId, macs };
}

/** The same, and waits until they are settled. @param {Sandbox} sandbox @param {import("pg").Client} database @param {number} count */
export async function settle(sandbox, database, count) {
  const before = await countEvents(database);
  await acceptBacklog(sandbox, database, count);
  const startedAt = performance.now();
  while (before + count > (await countEvents(database))) await sleep(5);
  return { perSecond: count / ((performance.now() - startedAt) / 1000), operations: count };
}

/** Reads the tenant's counter, which is one row; counting open transactions would read past the dead rows of settled ones. @param {import("pg").Client} database */
async function countEvents(database) {
  const { rows } = await database.query(
    `SELECT coalesce(max(sequence), 0) AS count FROM event_sequences JOIN (${sandboxTenant}) tenant USING (tenant_id)`,
  );
  return Number(rows[0].count);
}

/** @param {import("pg").Client} database */
export async function untilSettled(database) {
  const open = "SELECT FROM open_transactions ORDER BY tenant_id DESC, id DESC LIMIT 1";
  while ((await database.query(open)).rowCount !== 0) await sleep(20);
}

/**
 * Creates transactions and waits until all are settled, so that what is left does not burden the next side. The CPU per operation
 * includes settlement, the rate does not.
 * @param {Sandbox} sandbox @param {import("pg").Client} database @param {number} seconds @param {string} [token]
 */
export async function createAndSettle(sandbox, database, seconds, token = sandbox.token) {
  const accepted = await createTransactions(sandbox.url, token, seconds);
  await untilSettled(database);
  return accepted;
}
