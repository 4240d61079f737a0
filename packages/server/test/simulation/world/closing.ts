import { sendUntilAnswered } from "./clients.js";
import { bodyOf, type Event, type Request, type Transaction, type Wallet } from "./exchange.js";
import type { World } from "./world.js";

/** All that a tenant can read of its own, when everything should have ended. */
export interface Closing {
  tenant: string;
  transactions: Transaction[];
  wallets: Wallet[];
  events: Event[];
}

/** How long after the last fault something may still be open. */
const settleWithinMs = 6000;
const lookEveryMs = 200;
const finalStates = new Set(["completed", "rejected", "failed", "cancelled"]);
const eventsPerPage = 50;

/** Waits until nothing is open any more, or for as long as that may take, and then reads everything. */
export async function readClosing(world: World, tenant: string): Promise<Closing> {
  const { scheduler, outside, random } = world;
  const ask = async <T>(request: Request) => {
    const answer = await sendUntilAnswered(world, tenant, request);
    return (bodyOf({ answer }) ?? []) as T[];
  };
  // Long after, the same key still gives the same answer; and what was never accepted is now.
  const creates = world.exchanges.filter((one) => one.tenant === tenant && one.request.kind === "create");
  for (const { request } of creates) if (random.chance(0.3)) await sendUntilAnswered(world, tenant, request);

  const deadlineMs = scheduler.now() + settleWithinMs;
  for (;;) {
    const transactions = await ask<Transaction>({ kind: "list", limit: 1000, beforeId: undefined });
    const wallets = await ask<Wallet>({ kind: "list_wallets" });
    const isDone =
      transactions.every(({ state }) => finalStates.has(state)) &&
      isEveryDepositRecorded(world, tenant, transactions) &&
      wallets.every(({ state }) => state === "active");
    if (isDone || scheduler.now() > deadlineMs) break;
    await scheduler.turn(outside, "the closing waits", lookEveryMs);
  }

  // What was acknowledged is shown by every process alike, or not at all if the database has lost it.
  const ids = creates.flatMap((create) => (bodyOf(create) as Transaction | undefined)?.id ?? []);
  for (const id of new Set(ids))
    for (let times = world.lostIds.has(id) ? 3 : random.between(0, 1); times > 0; times--)
      await sendUntilAnswered(world, tenant, { kind: "read", id });

  const events: Event[] = [];
  for (;;) {
    const page = await ask<Event>({ kind: "events", after: events.length, limit: eventsPerPage });
    events.push(...page);
    if (page.length < eventsPerPage) break;
  }
  const transactions: Transaction[] = [];
  for (;;) {
    const page = await ask<Transaction>({ kind: "list", limit: 10, beforeId: transactions.at(-1)?.id });
    transactions.push(...page);
    if (page.length < 10) break;
  }
  return { tenant, transactions, events, wallets: await ask<Wallet>({ kind: "list_wallets" }) };
}

/** A deposit is nobody's request: only the network knows what is still to come. */
function isEveryDepositRecorded(
  { network }: World,
  tenant: string,
  transactions: readonly Transaction[],
): boolean {
  const recorded = new Set(transactions.map(({ reference }) => reference));
  return network
    .deposits()
    .filter(({ transfer }) => transfer.tenantId === tenant)
    .every(({ hash }) => {
      const status = network.statusOf(hash);
      return status.kind === "final" && (status.outcome === "lost" || recorded.has(hash));
    });
}
