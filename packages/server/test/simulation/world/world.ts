import { showId } from "@bursar/protocol";
import { createSteppingNetwork, type SteppingNetwork } from "../../harness/rails/stepping-network.js";
import type { PlantedBug } from "../bugs/planted-bug.js";
import { createSimulatedDatabase, type LostRow } from "../database/simulated-database.js";
import { eventsBySubject, transactions, wallets } from "../database/simulated-tables.js";
import type { Answer, Exchange, Request } from "./exchange.js";
import { createFleet, type Fleet, type FleetDeps } from "./fleet.js";
import { networkWalletOf, type OpeningBalance, openBooks } from "./opening-balances.js";
import { createRandom, type Random } from "./random.js";
import { drawScenario, noFaults, type Scenario } from "./scenario.js";
import { type Actor, createScheduler, type Scheduler } from "./scheduler.js";

/** Several processes of the service over one database, a network that loses and repeats, and all that goes wrong in between. */
export interface World {
  scenario: Scenario;
  random: Random;
  scheduler: Scheduler;
  /** Who sends; never killed. */
  outside: Actor;
  openings: readonly OpeningBalance[];
  /** A network of several steps outside the service; blocks come all the time. */
  network: SteppingNetwork;
  exchanges: readonly Exchange[];
  /** Sends a request to one of the processes, and remembers what came of it. */
  send: (tenant: string, request: Request) => Promise<Answer>;
  /** Resolves when nothing that was sent is under way any more. */
  quiet: () => Promise<unknown>;
  /** Ends all faults, for good. */
  heal: () => void;
  isHealed: () => boolean;
  /** What the database has lost, by the ids that clients know. */
  lostIds: ReadonlySet<string>;
  /** The transactions of which it has lost steps. */
  undoneIds: ReadonlySet<string>;
  /** How many servers were the database. */
  epoch: () => number;
  /** What must never happen, whatever is done to the service: its own errors, and deadlocks. */
  breakages: () => string[];
}

export function createWorld(seed: number, bug: PlantedBug | undefined, trace: (line: string) => void): World {
  const random = createRandom(seed);
  const scheduler = createScheduler(random, trace);
  const scenario = drawScenario(random);
  const outside: Actor = { name: "outside", isAlive: true };
  const errors: string[] = [];
  let isHealed = false;
  const database = createSimulatedDatabase({
    scheduler,
    random,
    rates: () => (isHealed ? noFaults : scenario.rates),
    disguise: bug?.disguiseRows ?? ((rows) => rows),
  });
  const openings = openBooks(database.tables, scenario.tenants, scheduler.now(), random);

  const network = createSteppingNetwork(() => ({
    reorganisations: random.chance(0.3) ? random.between(1, 2) : 0,
    reverts: random.chance(0.2),
    obeysCancel: random.chance(0.7),
  }));
  const mine = () => {
    network.advance();
    scheduler.after(outside, random.between(20, 120), "a block", mine);
  };
  mine();
  for (const tenant of scenario.hasRail ? scenario.tenants : [])
    for (let count = random.between(1, 5); count > 0; count--)
      scheduler.after(outside, random.between(1, 500), "a deposit", () => {
        // What arrives when all is read may not be there yet.
        if (isHealed) return;
        network.deposit({
          ...{ tenantId: tenant, walletId: networkWalletOf(tenant), fromAddress: "step1outside" },
          ...(random.chance(0.7) ? { asset: "STEP", amount: 300n } : { asset: "GAS", amount: 9n }),
        });
      });

  const fleet = createFleet({
    network,
    scenario,
    random,
    scheduler,
    outside,
    database,
    bug,
    errors,
    isHealed: () => isHealed,
  });
  const { exchanges, send, quiet } = createNetwork(
    { scenario, random, scheduler, outside, database, isHealed: () => isHealed },
    fleet,
  );
  for (const afterMs of scenario.outagesMs) {
    const durationMs = random.between(1, random.chance(0.8) ? 400 : 3000);
    scheduler.after(outside, afterMs, "the database goes away", () => {
      if (isHealed) return;
      database.goAway(durationMs);
      database.setClock(scenario.databaseClockMs);
    });
  }

  const lostIds = new Set<string>();
  const undoneIds = new Set<string>();
  for (const afterMs of scenario.rewindsMs) {
    const commits = random.between(1, random.chance(0.7) ? 5 : 40);
    scheduler.after(outside, afterMs, `the database loses ${commits} commits`, () => {
      if (isHealed) return;
      for (const row of database.rewind(commits)) {
        for (const id of shownIdsOf(row)) lostIds.add(id);
        for (const id of undoneIdsOf(row)) undoneIds.add(id);
      }
      database.setClock(scenario.databaseClockMs);
    });
  }

  return {
    ...{ scenario, random, scheduler, outside, openings, network, exchanges, send, quiet },
    ...{ lostIds, undoneIds },
    epoch: database.epoch,
    heal: () => {
      if (isHealed) return;
      isHealed = true;
      database.goAway(0);
      database.setClock(0);
      fleet.startAll();
    },
    isHealed: () => isHealed,
    breakages: () => [
      ...errors,
      ...(fleet.haveNoticed() ? [] : ["a process has not noticed that the database is another one"]),
      ...database.deadlocks.map((name) => `a deadlock over ${name}`),
    ],
  };
}

function shownIdsOf({ table, key }: LostRow): string[] {
  const [, id = ""] = key.split(" ");
  if (table === transactions.name) return [showId("tx", id)];
  return table === wallets.name ? [showId("wlt", id)] : [];
}

function undoneIdsOf({ table, key }: LostRow): string[] {
  const [, id = ""] = key.split(" ");
  return table === eventsBySubject.name ? [showId("tx", id)] : [];
}

type NetworkDeps = Pick<FleetDeps, "scenario" | "random" | "scheduler" | "outside" | "isHealed" | "database">;

function createNetwork(
  { scenario, random, scheduler, outside, database, isHealed }: NetworkDeps,
  { pick, areStarted, haveNoticed }: Pick<Fleet, "pick" | "areStarted" | "haveNoticed">,
) {
  const exchanges: Exchange[] = [];
  const copies: Promise<unknown>[] = [];
  let order = 0;

  async function deliver(tenant: string, request: Request): Promise<Answer> {
    await scheduler.turn(outside, `${request.kind} is under way`);
    const process = pick();
    return process.actor.isAlive ? await process.handle(tenant, request) : "lost";
  }

  return {
    exchanges,
    quiet: () => Promise.all(copies),
    send: async (tenant: string, request: Request): Promise<Answer> => {
      const sent = {
        tenant,
        request,
        sentMs: scheduler.now(),
        sentOrder: order++,
        isClosing: isHealed() && areStarted() && haveNoticed(),
        epoch: haveNoticed() ? database.epoch() : undefined,
      };
      if (!isHealed() && request.kind !== "freeze" && random.chance(scenario.requestsRepeated)) {
        // A copy that the network kept for a while; nobody waits for its answer.
        const kept = scheduler.turn(outside, "the network repeats a request", random.between(0, 300));
        copies.push(kept.then(() => deliver(tenant, request)));
      }
      const handled = await deliver(tenant, request);
      await scheduler.turn(outside, `the answer to ${request.kind} is under way`);
      const answer = !isHealed() && random.chance(scenario.answersLost) ? "lost" : handled;
      exchanges.push({ ...sent, answer, answeredMs: scheduler.now(), answeredOrder: order++ });
      return answer;
    },
  };
}
