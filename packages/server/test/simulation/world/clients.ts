import { type CreateTransactionBody, showId } from "@bursar/protocol";
import { type Answer, bodyOf, isDefinite, type Request, type Transaction, type Wallet } from "./exchange.js";
import { networkWalletOf } from "./opening-balances.js";
import type { Random } from "./random.js";
import type { World } from "./world.js";

/** What the clients of one tenant know together. */
interface Knowledge {
  tenant: string;
  ids: string[];
  walletIds: string[];
  /** Its wallet on the network of several steps. */
  networkWalletId: string;
  hasRail: boolean;
  /** Then wallets are made and used at once, and what was done is looked at: what memory and the database can disagree about. */
  hasRewinds: boolean;
  creates: Extract<Request, { kind: "create" }>[];
  keys: number;
}

const patienceMs = 20_000;
const untilChanged = { versionOtherThan: 1, timeoutMs: 100 };
const amountsMax = 400;

/** All clients of a tenant, each sending one request after the other and repeating those that got no answer. */
export function runClients(world: World, tenant: string): Promise<unknown> {
  const networkWalletId = showId("wlt", networkWalletOf(tenant));
  const walletIds = world.openings
    .filter((opening) => opening.tenant === tenant && opening.walletId !== networkWalletId)
    .map(({ walletId }) => walletId);
  const knowledge: Knowledge = {
    ...{ tenant, ids: [], walletIds: [...new Set(walletIds)], networkWalletId, creates: [], keys: 0 },
    hasRail: world.scenario.hasRail,
    hasRewinds: world.scenario.rewindsMs.length > 0,
  };
  return Promise.all(
    Array.from({ length: world.scenario.clientsPerTenant }, () => runClient(world, knowledge)),
  );
}

async function runClient(world: World, knowledge: Knowledge): Promise<void> {
  const { scenario, random, scheduler, outside } = world;
  for (let sent = 0; sent < scenario.requestsPerClient; sent++) {
    await scheduler.turn(outside, "a client thinks", random.chance(0.5) ? 0 : random.between(0, 80));
    // One at a time, mostly; or several at once, as a batch does.
    const several = random.chance(0.15) ? random.between(2, 6) : 1;
    const requests = Array.from({ length: several }, () => drawRequest(random, knowledge, scheduler.now()));
    const copies = requests.filter(() => random.chance(several === 1 ? 0.1 : 0.4)).reverse();
    await Promise.all(
      [...requests, ...copies].map(async (request) =>
        learn(knowledge, request, await sendUntilAnswered(world, knowledge.tenant, request)),
      ),
    );
    const [id] = knowledge.ids.slice(-1);
    if (knowledge.hasRewinds && id !== undefined && random.chance(0.5))
      await sendUntilAnswered(world, knowledge.tenant, { kind: "read", id, waitFor: untilChanged });
  }
}

/** Repeats a request until somebody says what became of it. Some clients give up. */
export async function sendUntilAnswered(world: World, tenant: string, request: Request): Promise<Answer> {
  const { random, scheduler, outside } = world;
  const givesUp = random.chance(0.1);
  const giveUpMs = scheduler.now() + patienceMs;
  for (;;) {
    const answer = await world.send(tenant, request);
    if (isDefinite(answer) || (givesUp && !world.isHealed()) || scheduler.now() > giveUpMs) return answer;
    await scheduler.turn(outside, "a client waits before it repeats", random.between(1, 100));
  }
}

function learn(knowledge: Knowledge, request: Request, answer: Answer): void {
  const body = bodyOf({ answer });
  if (body === undefined) return;
  if (request.kind === "create") knowledge.ids.push((body as Transaction).id);
  if (request.kind === "create_wallet") knowledge.walletIds.push((body as Wallet).id);
}

function drawRequest(random: Random, knowledge: Knowledge, nowMs: number): Request {
  const { ids } = knowledge;
  const walletIds = [...knowledge.walletIds, knowledge.networkWalletId];
  if (knowledge.hasRewinds && random.chance(0.2)) return drawWallet(random, nowMs);
  const draw = random.next();
  if (ids.length === 0 || draw < 0.5) return drawCreate(random, knowledge, nowMs);
  // Of those known the latest, mostly: what is done is done.
  const id = random.chance(0.7) ? (ids.at(-1) as string) : random.pick(ids);
  if (draw < 0.64) return { kind: "cancel", id };
  if (draw < 0.7) return { kind: "read", id };
  if (draw < 0.74)
    return {
      kind: "read",
      id,
      waitFor: { versionOtherThan: random.between(1, 2), timeoutMs: random.between(1, 600) },
    };
  if (draw < 0.8) return { kind: "events", after: random.between(0, 5), limit: random.between(1, 20) };
  if (draw < 0.87) return { kind: "read_wallet", walletId: random.pick(walletIds) };
  if (draw < 0.95) return { kind: "freeze", walletId: random.pick(walletIds), frozen: random.chance(0.5) };
  return drawWallet(random, nowMs);
}

function drawWallet(random: Random, nowMs: number): Request {
  const key = random.chance(0.3) ? "wallet" : `wallet-${nowMs}`;
  return { kind: "create_wallet", key, body: { name: random.pick(["a", "b"]), purpose: "payout" } };
}

/** A new transaction; or an old one again; or an old key for another. */
function drawCreate(random: Random, knowledge: Knowledge, nowMs: number): Request {
  const { creates } = knowledge;
  const earlier = creates.length > 0 && random.chance(0.2) ? random.pick(creates) : undefined;
  if (earlier !== undefined && random.chance(0.6)) return earlier;
  const number = knowledge.keys++;
  const key = earlier?.key ?? `key-${number}`;
  const request = { kind: "create" as const, key, body: drawBody(random, knowledge, number, nowMs) };
  creates.push(request);
  return request;
}

function drawBody(
  random: Random,
  { walletIds, networkWalletId, hasRail, hasRewinds }: Knowledge,
  number: number,
  nowMs: number,
): CreateTransactionBody {
  if (hasRail && random.chance(0.3))
    return {
      ...{ reference: `ref-${number}`, asset: "STEP", amount: (random.between(1, 400) / 100).toFixed(2) },
      ...{ source: { wallet_id: networkWalletId }, destination: { address: "step1someone" } },
    };
  const asset = random.chance(0.8) ? "USD" : "ETH";
  const cents = random.between(1, amountsMax);
  // A reference that no other body has: it tells the auditor which request a transaction comes from.
  const body: CreateTransactionBody = {
    reference: `ref-${number}`,
    asset,
    amount: asset === "USD" ? (cents / 100).toFixed(2) : `0.${String(cents).padStart(18, "0")}`,
  };
  const pickWallet = () =>
    (hasRewinds && random.chance(0.5) ? walletIds.at(-1) : random.pick(walletIds)) ?? "";
  if (random.chance(0.5)) body.source = { wallet_id: pickWallet() };
  if (random.chance(0.5)) body.destination = { wallet_id: pickWallet() };
  if (random.chance(0.25)) body.expires_at = new Date(nowMs + random.between(-20, 300)).toISOString();
  if (random.chance(0.1)) body.metadata = { number: String(number) };
  if (random.chance(0.04))
    Object.assign(body, random.pick([{ asset: "GOLD" }, { amount: "0.0000000000000000001" }]));
  return body;
}
