import type { PlantedBug } from "./planted-bug.js";

/** What people get wrong when a database goes back in time under running processes. */
export const plantedRewindBugs: readonly PlantedBug[] = [
  {
    name: "memory outlives the database that it was read from",
    breaks: "no process shows what the database does not have",
    disguisePorts: (ports) => ({
      ...ports,
      identity: { ...ports.identity, subscribe: () => () => undefined },
    }),
  },
  {
    name: "a process does not look which database is behind its connections",
    breaks: "every process notices a database that went back",
    disguisePorts: (ports, { connectUnseen }) => ({ ...connectUnseen(), identity: ports.identity }),
  },
];
