import type { RailRecorder } from "../../../src/app/rails/record-rail-events.js";
import type { SettlementUnit } from "../../../src/app/transactions/settlement.js";
import type { TransactionStore } from "../../../src/app/transactions/transaction.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import type { Rows, Table, Tables } from "../database/simulated-rows.js";
import type { Ports } from "../world/ports.js";
import type { Actor, Scheduler } from "../world/scheduler.js";

/** A mistake that somebody could make, put between the code and its world. The code itself is not touched. */
export interface PlantedBug {
  name: string;
  /** Which promise it breaks. */
  breaks: string;
  /** It shows only in runs in which the database goes back. */
  needsRewind?: boolean;
  /** The search begins here: seeds before it do not see the bug, and only cost time. */
  firstSeed?: number;
  disguisePorts?: (ports: Ports, around: BugSurroundings) => Ports;
  /** Changes how statements see the tables. */
  disguiseRows?: (rows: Rows, tables: Tables) => Rows;
}

interface BugSurroundings {
  database: SimulatedDatabase;
  actor: Actor;
  scheduler: Scheduler;
  /** The same ports on connections that are not identified. */
  connectUnseen: () => Ports;
  /** The clock of the process's machine. */
  wallMs: () => number;
}

type Accept = TransactionStore["acceptTransactions"];

/** A bug in how a batch is accepted. */
export function withAccept(
  accept: (batch: Parameters<Accept>[0], real: Accept, around: BugSurroundings) => ReturnType<Accept>,
): NonNullable<PlantedBug["disguisePorts"]> {
  return (ports, around) => ({
    ...ports,
    transactions: {
      ...ports.transactions,
      acceptTransactions: (batch) => accept(batch, ports.transactions.acceptTransactions, around),
    },
  });
}

/** A bug in what a unit of work does, for the engine and for everything else that settles. */
export function withUnit(
  disguise: (unit: SettlementUnit) => Partial<SettlementUnit>,
): (ports: Ports) => Ports {
  return (ports) => ({
    ...ports,
    settlements: {
      ...ports.settlements,
      unitOfWork: (work) => ports.settlements.unitOfWork((unit) => work({ ...unit, ...disguise(unit) })),
    },
  });
}

/** A bug in what the driver of a rail records. */
export function withRecorder(
  disguise: (recorder: RailRecorder) => Partial<RailRecorder>,
): (ports: Ports) => Ports {
  return (ports) => ({ ...ports, disguiseRecorder: (recorder) => ({ ...recorder, ...disguise(recorder) }) });
}

/** Writes past the transaction. */
export function putAtOnce(tables: Tables, { name }: Table<unknown>, key: string, row: unknown): void {
  tables.set(name, (tables.get(name) ?? new Map<string, unknown>()).set(key, row));
}
