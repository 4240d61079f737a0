import { createSimulatedSettlementStore } from "../database/simulated-settlement.js";
import type { PlantedBug } from "./planted-bug.js";

/** What people get wrong when machines do not agree on the time. */
export const plantedClockBugs: readonly PlantedBug[] = [
  {
    name: "a process trusts the clock of its machine",
    breaks: "everything has the time of the database",
    disguisePorts: (ports, { wallMs }) => ({
      ...ports,
      disguiseClock: (clock) => ({ ...clock, now: wallMs, measuredNow: wallMs }),
    }),
  },
  {
    name: "totals have the time of the machine that counts",
    firstSeed: 361,
    breaks: "a limit refuses only what exceeds it",
    disguisePorts: (ports, { database, actor, wallMs }) => ({
      ...ports,
      settlements: createSimulatedSettlementStore(database, actor, () => new Date(wallMs())),
    }),
  },
  {
    name: "a process follows every step of the database's clock",
    firstSeed: 11,
    breaks: "a failover to a machine with a wrong clock changes no times",
    disguisePorts: (ports, { database }) => ({
      ...ports,
      disguiseClock: (clock) => ({ ...clock, now: database.now, measuredNow: database.now }),
    }),
  },
];
