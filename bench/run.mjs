// npm run bench -- [scenario …] [--rounds N] [--seconds N]
import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { compare, residentMegabytes } from "./measure.mjs";
import { initialisePgbench, runPgbench, runWrk } from "./programs.mjs";
import { freePort, startSandbox, waitUntilReady } from "./sandbox.mjs";
import { deliver } from "./scenarios/deliver.mjs";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "5" }, seconds: { type: "string", default: "4" } },
});
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
const here = (/** @type {string} */ name) => join(import.meta.dirname, name);

/** @type {Record<string, (sandbox: import("./sandbox.mjs").Sandbox, nothing: string) => Promise<void>>} */
const scenarios = { accept, bulk, settle, read, deliver: () => deliver({ rounds, seconds }) };

for (const name of positionals.length > 0 ? positionals : Object.keys(scenarios)) {
  const scenario = scenarios[name];
  if (scenario === undefined) {
    console.error(`bench: there is no scenario ${name}; there are ${Object.keys(scenarios).join(", ")}`);
    process.exit(2);
  }
  const sandbox = await startSandbox();
  process.env["BENCH_TOKEN"] = sandbox.token;
  await prepareInsertTable(sandbox.databaseUrl);
  const nothing = await startNothing(sandbox);
  try {
    await scenario(sandbox, nothing.url);
  } finally {
    nothing.stop();
    await sandbox.stop();
  }
}

/** Durable POST /v1/transactions, all features on. @type {(typeof scenarios)[string]} */
async function accept(sandbox, nothing) {
  const sides = [
    { name: "nothing", measure: () => runWrk({ url: nothing, script: here("create.lua"), seconds }) },
    {
      name: "accept",
      measure: () => withPrefix(() => runWrk({ url: sandbox.url, script: here("create.lua"), seconds })),
    },
    { name: "pgbench", measure: () => insertRows(sandbox) },
  ];
  await compare("accept", rounds, sides, [
    { of: "accept", against: "nothing", target: 0.8 },
    { of: "accept", against: "pgbench", target: 1 },
  ]);
  console.log(`  ${"resident megabytes".padEnd(34)} ${String(residentMegabytes(sandbox.pid)).padStart(8)}`);
}

/** Items per second by POST /v1/transactions/batch. @type {(typeof scenarios)[string]} */
async function bulk(sandbox) {
  const measure = () =>
    withPrefix(() => 1000 * runWrk({ url: sandbox.url, script: here("batch.lua"), seconds, connections: 4 }));
  const sides = [
    { name: "bulk", measure },
    { name: "pgbench", measure: () => insertRows(sandbox) },
  ];
  await compare("bulk", rounds, sides, [{ of: "bulk", against: "pgbench", target: 4 }]);
}

/** From accepted to completed: the engine works off what was accepted before it was woken. @type {(typeof scenarios)[string]} */
async function settle(sandbox) {
  initialisePgbench(sandbox.databaseUrl, 10);
  const count = 20_000;
  const database = new pg.Client(sandbox.databaseUrl);
  await database.connect();
  const sides = [
    { name: "settle", measure: () => settleOnce(database, count) },
    { name: "pgbench TPC-B", measure: () => runPgbench(sandbox.databaseUrl, [], seconds) },
  ];
  await compare("settle", rounds, sides, [{ of: "settle", against: "pgbench TPC-B", target: 5 }]);
  await database.end();
}

/** GET /v1/transactions/{id}. @type {(typeof scenarios)[string]} */
async function read(sandbox, nothing) {
  await withPrefix(() => runWrk({ url: sandbox.url, script: here("create.lua"), seconds: 1 }));
  const headers = { authorization: `Bearer ${sandbox.token}` };
  const response = await fetch(`${sandbox.url}/v1/transactions?limit=200`, { headers });
  const { data } = /** @type {{ data: { id: string }[] }} */ (await response.json());
  process.env["BENCH_IDS"] = data.map(({ id }) => id).join(",");
  const sides = [
    { name: "nothing", measure: () => runWrk({ url: nothing, script: here("read.lua"), seconds }) },
    { name: "read", measure: () => runWrk({ url: sandbox.url, script: here("read.lua"), seconds }) },
  ];
  await compare("read", rounds, sides, [{ of: "read", against: "nothing", target: 0.8 }]);
}

/** @param {import("./sandbox.mjs").Sandbox} sandbox */
function insertRows(sandbox) {
  return runPgbench(sandbox.databaseUrl, ["-f", here("insert.sql")], seconds);
}

/** Rows of the same shape and indexes as an accepted transaction. @param {string} databaseUrl */
async function prepareInsertTable(databaseUrl) {
  const database = new pg.Client(databaseUrl);
  await database.connect();
  await database.query("CREATE TABLE bench_transactions (LIKE transactions INCLUDING ALL)");
  await database.end();
}

/** Puts transactions before the engine at once, and waits until it has settled all. @param {import("pg").Client} database @param {number} count */
async function settleOnce(database, count) {
  await database.query("BEGIN");
  await database.query(
    `WITH tenant AS (
       SELECT p.tenant_id, p.id AS source, s.id AS destination FROM wallets p
       JOIN wallets s ON s.tenant_id = p.tenant_id AND s.role = 'settlement' WHERE p.role = 'primary' LIMIT 1),
     made AS (
       INSERT INTO transactions
         (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount, source_wallet_id, destination_wallet_id, created_at)
       SELECT tenant_id, uuidv7(), gen_random_uuid()::text, '\\x00', tenant_id, 'bench', 'USD', 1, source, destination, now()
       FROM tenant, generate_series(1, $1) RETURNING tenant_id, id)
     INSERT INTO open_transactions SELECT tenant_id, id, 'accepted', 1 FROM made`,
    [count],
  );
  await database.query("COMMIT");
  const startedAt = performance.now();
  for (;;) {
    const { rowCount } = await database.query("SELECT FROM open_transactions LIMIT 1");
    if (rowCount === 0) return count / ((performance.now() - startedAt) / 1000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Gives each run keys of its own. @template T @param {() => T} run */
function withPrefix(run) {
  process.env["BENCH_PREFIX"] = `${process.hrtime.bigint()}-`;
  return run();
}

/** @param {import("./sandbox.mjs").Sandbox} sandbox */
async function startNothing(sandbox) {
  const response = await fetch(`${sandbox.url}/v1/transactions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${sandbox.token}`,
      "idempotency-key": "sample",
      "content-type": "application/json",
    },
    body: JSON.stringify({ reference: "invoice-2026-0001", asset: "USD", amount: "0.01" }),
  });
  const port = await freePort();
  const child = spawn(process.execPath, [here("nothing.mjs"), String(port), await response.text()], {
    stdio: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(url);
  return { url, stop: () => child.kill("SIGKILL") };
}
