import { createDatabaseIdentity } from "../../../src/runtime/database/database-identity.js";
import type { SteppingNetwork } from "../../harness/rails/stepping-network.js";
import type { PlantedBug } from "../bugs/planted-bug.js";
import { identifyConnections } from "../database/identified-database.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import { createPorts } from "./ports.js";
import type { Random } from "./random.js";
import type { Scenario } from "./scenario.js";
import type { Actor, Scheduler } from "./scheduler.js";
import { createServiceProcess, type ServiceProcess } from "./service-process.js";

/** The processes of the service. */
export interface Fleet {
  pick: () => ServiceProcess;
  areStarted: () => boolean;
  /** Whether all of them know which database they have. */
  haveNoticed: () => boolean;
  startAll: () => void;
}

export interface FleetDeps {
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
export function createFleet({
  network,
  scenario,
  random,
  scheduler,
  outside,
  database,
  bug,
  errors,
  isHealed,
}: FleetDeps): Fleet {
  const drawErrorMs = (mostMs: number) => random.between(-mostMs, mostMs);
  const wallMs = ({ clockErrorMs }: Pick<Slot, "clockErrorMs">) => scheduler.now() + clockErrorMs;

  function start(slot: { clockErrorMs: number }, index: number): ServiceProcess {
    const actor: Actor = { name: `process ${index}`, isAlive: true };
    // Time between statements is not simulated, so the database has always answered just now.
    const identity = { ...createDatabaseIdentity(), hasAnsweredNow: () => true };
    const ports = createPorts(identifyConnections(database, identity), actor, identity);
    const surroundings = {
      ...{ database, actor, scheduler, wallMs: () => wallMs(slot) },
      connectUnseen: () => createPorts(database, actor, identity),
    };
    return createServiceProcess({
      actor,
      hasNoticed: () => identity.epoch() === undefined || identity.epoch() === `epoch ${database.epoch()}`,
      ports: bug?.disguisePorts?.(ports, surroundings) ?? ports,
      network,
      scheduler,
      random,
      wallMs: () => wallMs(slot),
      transactionsMax: scenario.transactionsMax,
      queues: scenario.queues,
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
    haveNoticed: () => slots.every(({ process }) => process.hasNoticed()),
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
