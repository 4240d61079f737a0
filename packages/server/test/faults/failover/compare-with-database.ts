import { isBursarError } from "@bursar/client";
import { createAssetRegistry, formatAmount } from "@bursar/domain";
import { readId, showId } from "@bursar/protocol";
import { assetList } from "../../../src/config/asset-list.js";
import { sandboxMarkets } from "../../../src/config/market-list.js";
import { type Statement, sql } from "../../../src/store/core/sql.js";
import { createLevelStore } from "../../../src/store/markets/market-levels.js";
import type { TestClient } from "../../harness/service/test-service.js";
import { type Acknowledged, market } from "../mixed-load.js";
import { lineOf, type StreamView } from "../stream/stream-view.js";
import type { TwoProcesses } from "../two-processes.js";

/** What was seen, and is now compared with the database. */
export interface Seen {
  world: TwoProcesses;
  /** One of each process, of the payer. */
  views: readonly StreamView[];
  acknowledged: readonly Acknowledged[];
  /** Webhooks before this number arrived while the last failover was not over yet. */
  arrivedBefore: number;
}

const parallelMax = 8;
const eventsPageMax = 100;
const differencesMax = 4;
const assets = createAssetRegistry(assetList.default);
const prefixes: Readonly<Record<string, "tx" | "ord" | "wlt">> = {
  "transaction.updated": "tx",
  "order.updated": "ord",
  "wallet.updated": "wlt",
};

/** Everything in which a process or a follower of it differs from the database; empty if nothing does. */
export async function findDifferences(seen: Seen): Promise<string[]> {
  const found = [
    await compareEvents(seen),
    await compareResources(seen, "transactions"),
    await compareResources(seen, "orders"),
    await compareWallets(seen),
    await compareBooks(seen),
    await compareWebhooks(seen),
  ];
  return found.flatMap(abridge);
}

/** The first ones of each kind are enough to see what is wrong. */
function abridge(differences: readonly string[]): string[] {
  const more = differences.length - differencesMax;
  return more > 0 ? [...differences.slice(0, differencesMax), `and ${more} more`] : [...differences];
}

/** A client at one of the processes. */
const clientAt = (world: TwoProcesses, process: number, client: TestClient) =>
  world.bursarOf(client, world.services[process]?.url);

const tenantOf = ({ tenantId }: TestClient) => readId("tnt", tenantId) ?? "";

async function readLog({ database, payer }: TwoProcesses): Promise<string[]> {
  const rows = await database.query<{
    sequence: string;
    event: string;
    id: string;
    version: number;
    state: string;
  }>(sql`
    SELECT sequence, event, subject_id AS id, version, state FROM events
    WHERE tenant_id = ${tenantOf(payer)} ORDER BY sequence
  `);
  return rows.map(({ sequence, event, id, version, state }) => {
    const prefix = prefixes[event];
    return `${sequence} ${event} ${prefix === undefined ? id : showId(prefix, id)} ${version} ${state}`;
  });
}

function compareLines(who: string, shown: readonly string[], stored: readonly string[]): string[] {
  const at = stored.findIndex((line, index) => line !== shown[index]);
  const first = at === -1 ? stored.length : at;
  if (at === -1 && shown.length === stored.length) return [];
  return [
    `${who} has ${shown.length} events of ${stored.length}; first difference: "${shown[first]}" instead of "${stored[first]}"`,
  ];
}

async function compareEvents({ world, views }: Seen): Promise<string[]> {
  const stored = await readLog(world);
  const found = views.flatMap((view, index) =>
    compareLines(`the stream of process ${index}`, view.log(), stored),
  );
  for (const process of world.services.keys()) {
    const shown: string[] = [];
    const { events } = clientAt(world, process, world.payer);
    for await (const event of events.list({ after: 0, limit: eventsPageMax })) shown.push(lineOf(event));
    found.push(...compareLines(`GET /v1/events of process ${process}`, shown, stored));
  }
  return found;
}

/** The state and version of those that exist. */
function selectStates(kind: Acknowledged["kind"], tenantId: string, ids: readonly string[]): Statement {
  const [all, open] =
    kind === "orders" ? [sql`orders`, sql`open_orders`] : [sql`transactions`, sql`open_transactions`];
  return sql`
    SELECT r.id, coalesce(o.state, e.state) AS state, coalesce(o.version, e.version) AS version
    FROM ${all} r LEFT JOIN ${open} o ON o.tenant_id = r.tenant_id AND o.id = r.id
    LEFT JOIN LATERAL (
      SELECT state, version FROM events e WHERE e.tenant_id = r.tenant_id AND e.subject_id = r.id
      ORDER BY version DESC LIMIT 1) e ON true
    WHERE r.tenant_id = ${tenantId} AND r.id = ANY(${[...ids]})
  `;
}

async function compareResources(
  { world, acknowledged }: Seen,
  kind: Acknowledged["kind"],
): Promise<string[]> {
  const found: string[] = [];
  const prefix = kind === "orders" ? "ord" : "tx";
  for (const client of kind === "orders" ? world.traders : [world.payer]) {
    const ids = acknowledged
      .filter((entry) => entry.kind === kind && entry.client === client)
      .flatMap((entry) => [...entry.ids]);
    const uuids = ids.map((id) => readId(prefix, id) ?? "");
    const rows = await world.database.query<{ id: string; state: string; version: number }>(
      selectStates(kind, tenantOf(client), uuids),
    );
    const stored = new Map(rows.map(({ id, state, version }) => [showId(prefix, id), `${state} ${version}`]));
    const asked = ids.flatMap((id) => [...world.services.keys()].map((process) => ({ id, process })));
    for (let from = 0; from < asked.length; from += parallelMax)
      await Promise.all(
        asked.slice(from, from + parallelMax).map(async ({ id, process }) => {
          const { [kind]: resources } = clientAt(world, process, client);
          const shown = await resources.get(id).then(
            ({ state, version }) => `${state} ${version}`,
            (error: unknown) => (isBursarError(error) && error.status === 404 ? "missing" : String(error)),
          );
          const expected = stored.get(id) ?? "missing";
          if (shown !== expected) found.push(`process ${process} shows ${id} as ${shown}; it is ${expected}`);
        }),
      );
  }
  return found;
}

async function compareWallets({ world }: Seen): Promise<string[]> {
  const found: string[] = [];
  for (const client of [world.payer, ...world.traders]) {
    const rows = await world.database.query<{
      id: string;
      asset: string;
      available: string;
      held: string;
    }>(sql`
      SELECT account_id AS id, asset, available, held FROM ledger_accounts
      WHERE tenant_id = ${tenantOf(client)} AND kind = 'wallet' ORDER BY account_id, asset
    `);
    const show = (code: string, units: string) =>
      formatAmount(BigInt(units), assets.find(code)?.decimals ?? 0);
    const stored = rows
      .map(
        ({ id, asset, available, held }) =>
          `${showId("wlt", id)} ${asset} ${show(asset, available)} ${show(asset, held)}`,
      )
      .sort();
    for (const process of world.services.keys()) {
      const { data } = await clientAt(world, process, client).wallets.list().page();
      const shown = data
        .flatMap(({ id, balances }) =>
          balances.map((one) => `${id} ${one.asset} ${one.available} ${one.held}`),
        )
        .sort();
      const wrong = stored.find((line) => !shown.includes(line));
      if (wrong !== undefined)
        found.push(`process ${process} shows wallets [${shown}]; the database has ${wrong}`);
    }
  }
  return found;
}

async function compareBooks({ world, views }: Seen): Promise<string[]> {
  const { levels } = await createLevelStore(world.keyed).readLevels(market);
  const { tickSize = "1", lotSize = "1" } =
    sandboxMarkets.find(({ base, quote }) => `${base}-${quote}` === market) ?? {};
  const stored = JSON.stringify([
    levels.sequence,
    ...[levels.bids, levels.asks].map((side) => side.map(({ price, size }) => [price, size])),
  ]);
  const inSteps = (side: readonly (readonly string[])[]) =>
    side.map(([price, size]) => [
      Math.round(Number(price) / Number(tickSize)),
      Math.round(Number(size) / Number(lotSize)),
    ]);
  const shown = views.map((view, process): [string, string] => {
    const book = view.book();
    const sides = [inSteps(book.levels("bids")), inSteps(book.levels("asks"))];
    return [`the book in the stream of process ${process}`, JSON.stringify([book.sequence(), ...sides])];
  });
  for (const process of world.services.keys()) {
    const { orderbook } = clientAt(world, process, world.payer);
    const { sequence, bids, asks, stale } = await orderbook.get({ market, depth: 1000 });
    const sides = [inSteps(bids), inSteps(asks)];
    shown.push([`GET /v1/orderbook of process ${process}`, JSON.stringify([sequence, ...sides])]);
    if (stale) shown.push([`process ${process} calls its book stale`, ""]);
  }
  return shown
    .filter(([, book]) => book !== stored)
    .map(([who, book]) => `${who} is ${book}; it should be ${stored}`);
}

/** Every event of the database has arrived, and nothing else since the failover ended. */
async function compareWebhooks({ world, arrivedBefore }: Seen): Promise<string[]> {
  const stored = new Set(await readLog(world));
  const arrived = world.receiver.received.map(({ body }) => lineOf(body as never));
  const found = [...stored]
    .filter((line) => !arrived.includes(line))
    .map((line) => `no webhook for "${line}"`);
  for (const line of arrived.slice(arrivedBefore))
    if (!stored.has(line)) found.push(`a webhook "${line}" that the database does not have`);
  const pending = await world.database.query(
    sql`SELECT FROM pending_deliveries WHERE tenant_id = ${tenantOf(world.payer)}`,
  );
  if (pending.length > 0) found.push(`${pending.length} deliveries are pending`);
  return found;
}
