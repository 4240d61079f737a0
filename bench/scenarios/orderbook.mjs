import { join } from "node:path";
import pg from "pg";
import { processesOf, processesOfPeer } from "../load.mjs";
import { compare } from "../measure.mjs";
import { startEmptyRoute } from "../peers.mjs";
import { runWrk } from "../programs.mjs";
import { withSandbox } from "../sandbox.mjs";

const script = join(import.meta.dirname, "../load/orderbook.lua");
const levels = 60;
const changesPerSecond = 1000;
const tickMs = 50;

/** `GET /v1/orderbook`, 50 levels a side, while the book changes 1,000 times a second. @param {import("../run.mjs").BenchOptions} options */
export async function orderbook({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    const { url, token } = sandbox;
    const changing = await changeBook(sandbox.databaseUrl);
    const sample = await waitForDepth(sandbox);
    const emptyRoute = await startEmptyRoute(sandbox, sample);
    const env = { BENCH_TOKEN: token };
    const sides = [
      {
        name: "empty route",
        measure: () => runWrk({ url: emptyRoute.url, script, seconds, env }),
        processes: processesOfPeer(emptyRoute, sandbox),
      },
      {
        name: "orderbook",
        measure: () => runWrk({ url, script, seconds, env }),
        processes: processesOf(sandbox, [emptyRoute]),
      },
    ];
    const before = await changing.sequence();
    const startedAt = performance.now();
    try {
      await compare("orderbook", rounds, sides);
      const took = (performance.now() - startedAt) / 1000;
      console.log(
        `  commands a second meanwhile: ${Math.round(((await changing.sequence()) - before) / took)}`,
      );
    } finally {
      emptyRoute.stop();
      await changing.stop();
    }
  });
}

/** @param {import("../sandbox.mjs").Sandbox} sandbox */
async function waitForDepth({ client }) {
  for (;;) {
    const book = await client.orderbook.get();
    if (book.bids.length === 50 && book.asks.length === 50) return JSON.stringify(book);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Fills the first market with orders, and then places and cancels orders at its levels without pause. The rows are written directly
 * to the database, so that the service is busy with the market and not with these requests.
 * @param {string} databaseUrl
 */
async function changeBook(databaseUrl) {
  const database = new pg.Client(databaseUrl);
  await database.connect();
  const place = (/** @type {number} */ count, /** @type {string} */ offset) =>
    database.query(
      `WITH owner AS (SELECT w.tenant_id, w.id AS wallet_id FROM wallets w JOIN tenants t ON t.id = w.tenant_id
         WHERE w.role = 'primary' AND t.name = 'other' LIMIT 1),
       made AS (
         INSERT INTO orders (tenant_id, id, idempotency_key, request_hash, client_id, market, wallet_id, side, type, time_in_force,
           self_trade, price, size, policy_version, created_at)
         SELECT tenant_id, uuidv7(), gen_random_uuid()::text, '\\x00', tenant_id, 'ETH-USD', wallet_id,
           CASE n % 2 WHEN 0 THEN 'buy' ELSE 'sell' END, 'limit', 'gtc', 'cancel_newest',
           CASE n % 2 WHEN 0 THEN 2900 - n / 2 ELSE 3100 + n / 2 END, 1, 0, now()
         FROM owner, (SELECT (${offset})::int AS n FROM generate_series(1, $1::int) g) numbers
         RETURNING tenant_id, id, market, wallet_id, side, price, size)
       INSERT INTO open_orders (tenant_id, id, market, wallet_id, side, price, size, state, version)
       SELECT tenant_id, id, market, wallet_id, side, price, size, 'pending', 1 FROM made RETURNING id`,
      [count],
    );
  await place(2 * levels, "g");
  const half = (changesPerSecond * tickMs) / 1000 / 2;
  let isOn = true;
  /** @type {string[]} */
  let placed = [];
  const changing = (async () => {
    while (isOn) {
      const next = performance.now() + tickMs;
      const ids = placed;
      placed = (await place(half, `1 + floor(random() * ${2 * levels})`)).rows.map(({ id }) => id);
      if (ids.length > 0)
        await database.query("UPDATE open_orders SET cancel_requested = true WHERE id = ANY ($1::uuid[])", [
          ids,
        ]);
      await new Promise((resolve) => setTimeout(resolve, Math.max(next - performance.now(), 0)));
    }
  })();
  return {
    sequence: async () => {
      const { rows } = await database.query("SELECT applied_sequence FROM markets WHERE market = 'ETH-USD'");
      return Number(rows[0].applied_sequence);
    },
    stop: async () => {
      isOn = false;
      await changing;
      await database.end();
    },
  };
}
