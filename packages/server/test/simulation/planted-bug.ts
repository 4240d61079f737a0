import type { Ports } from "./ports.js";
import type { Actor, Scheduler } from "./scheduler.js";
import type { SimulatedDatabase } from "./simulated-database.js";
import type { Rows, Tables } from "./simulated-rows.js";

/** A mistake that somebody could make, put between the code and its world. The code itself is not touched. */
export interface PlantedBug {
  name: string;
  /** Which promise it breaks. */
  breaks: string;
  disguisePorts?: (ports: Ports, around: BugSurroundings) => Ports;
  /** Changes how statements see the tables. */
  disguiseRows?: (rows: Rows, tables: Tables) => Rows;
}

export interface BugSurroundings {
  database: SimulatedDatabase;
  actor: Actor;
  scheduler: Scheduler;
}
