import { createSteppingNetwork, type SteppingNetwork } from "../../harness/rails/stepping-network.js";
import type { PlantedBug } from "../bugs/planted-bug.js";
import { createSimulatedDatabase, type SimulatedDatabase } from "../database/simulated-database.js";
import type { Answer, Exchange, Request } from "./exchange.js";
import { networkWalletOf, type OpeningBalance, openBooks } from "./opening-balances.js";
import { createPorts } from "./ports.js";
import { createRandom, type Random } from "./random.js";
import { drawScenario, noFaults, type Scenario } from "./scenario.js";
import { type Actor, createScheduler, type Scheduler } from "./scheduler.js";
import { createServiceProcess, type ServiceProcess } from "./service-process.js";

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
  for (const tenant of scenario.tenants)
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
    { scenario, random, scheduler, outside, isHealed: () => isHealed },
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

  return {
    ...{ scenario, random, scheduler, outside, openings, network, exchanges, send, quiet },
    heal: () => {
      if (isHealed) return;
      isHealed = true;
      database.goAway(0);
      database.setClock(0);
      fleet.startAll();
    },
    isHealed: () => isHealed,
    breakages: () => [...errors, ...database.deadlocks.map((name) => `a deadlock over ${name}`)],
  };
}

interface FleetDeps {
  network: SteppingNetwork;
  scenario: Scenario;
  random: Random;
  scheduler: Scheduler;
  outside: Actor;
  database: SimulatedDatabase;
  bug: PlantedBug | undefined;
  errors: string[];
  isHealed: () => boolean;
}

interface Slot {
  process: ServiceProcess;
  clockErrorMs: number;
}

/** The processes: killed without warning, and started again a little later. */
function createFleet({
  network,
  scenario,
  random,
  scheduler,
  outside,
  database,
  bug,
  errors,
  isHealed,
}: FleetDeps) {
  const drawErrorMs = (mostMs: number) => random.between(-mostMs, mostMs);
  const wallMs = ({ clockErrorMs }: Pick<Slot, "clockErrorMs">) => scheduler.now() + clockErrorMs;

  function start(slot: { clockErrorMs: number }, index: number): ServiceProcess {
    const actor: Actor = { name: `process ${index}`, isAlive: true };
    const ports = createPorts(database, actor);
    return createServiceProcess({
      actor,
      ports: bug?.disguisePorts?.(ports, { database, actor, scheduler, wallMs: () => wallMs(slot) }) ?? ports,
      network,
      scheduler,
      random,
      wallMs: () => wallMs(slot),
      transactionsMax: scenario.transactionsMax,
      onBroken: (error) =>
        errors.push(`the service broke: ${error instanceof Error ? error.message : error}`),
    });
  }

  const slots: Slot[] = Array.from({ length: scenario.processes }, (_, index) => {
    const slot = { clockErrorMs: drawErrorMs(scenario.clockErrorMs) };
    return Object.assign(slot, { process: start(slot, index) });
  });
  const restart = (index: number) => {
    const slot = slots[index] as Slot;
    if (!slot.process.actor.isAlive) slot.process = start(slot, index);
  };

  for (const afterMs of scenario.killsMs) {
    const index = random.between(0, slots.length - 1);
    const downMs = random.between(1, 300);
    scheduler.after(outside, afterMs, `process ${index} is killed`, () => {
      const { process } = slots[index] as Slot;
      if (isHealed() || !process.actor.isAlive) return;
      process.kill();
      database.breakConnections(process.actor);
      scheduler.after(outside, downMs, `process ${index} is started`, () => restart(index));
    });
  }
  for (const afterMs of scenario.clockChangesMs) {
    const slot = random.pick(slots);
    const errorMs = drawErrorMs(scenario.clockJumpMs);
    scheduler.after(outside, afterMs, "a clock is set", () => {
      slot.clockErrorMs = errorMs;
    });
  }

  return {
    pick: () => random.pick(slots).process,
    areStarted: () => slots.every(({ process }) => process.isStarted()),
    /** With clocks that are right enough to start. */
    startAll: () => {
      for (const [index, slot] of slots.entries()) {
        slot.clockErrorMs = drawErrorMs(scenario.clockErrorMs);
        restart(index);
      }
    },
  };
}

type NetworkDeps = Pick<FleetDeps, "scenario" | "random" | "scheduler" | "outside" | "isHealed">;

function createNetwork(
  { scenario, random, scheduler, outside, isHealed }: NetworkDeps,
  { pick, areStarted }: Pick<ReturnType<typeof createFleet>, "pick" | "areStarted">,
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
        isClosing: isHealed() && areStarted(),
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
