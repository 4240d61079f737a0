import type {
  Accounts,
  BatchPlan,
  ClaimedTransaction,
  PlanBatch,
  Settlement,
} from "../../src/app/transactions/settlement.js";
import type { TransactionStore } from "../../src/app/transactions/transaction.js";
import type { Ports } from "./ports.js";
import type { Actor, Scheduler } from "./scheduler.js";
import type { SimulatedDatabase } from "./simulated-database.js";
import type { Rows, Table, Tables } from "./simulated-rows.js";

/** A mistake that somebody could make, put between the code and its world. The code itself is not touched. */
export interface PlantedBug {
  name: string;
  /** Which promise it breaks. */
  breaks: string;
  disguisePorts?: (ports: Ports, around: BugSurroundings) => Ports;
  /** Changes how statements see the tables. */
  disguiseRows?: (rows: Rows, tables: Tables) => Rows;
}

interface BugSurroundings {
  database: SimulatedDatabase;
  actor: Actor;
  scheduler: Scheduler;
}

/** Decides some of a batch, on these balances. */
type Decide = (claimed: readonly ClaimedTransaction[], locked: Accounts) => Settlement[];
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

/** A bug in how a batch is decided, or in what is believed of its transactions. */
export function withDecide(
  decide: (claimed: readonly ClaimedTransaction[], locked: Accounts, real: Decide) => Settlement[],
  believe: (claimed: ClaimedTransaction) => ClaimedTransaction = (claimed) => claimed,
): (ports: Ports) => Ports {
  const disguise =
    (plan: PlanBatch): PlanBatch =>
    async (given) => {
      const claimed = given.map(believe);
      // One plan each, so that a bug can decide one without the others.
      const plans = new Map<string, BatchPlan>();
      for (const one of claimed) plans.set(one.id, await plan([one]));
      const real: Decide = (some, locked) =>
        some.flatMap(({ id }) => plans.get(id)?.decide(locked, new Map()) ?? []);
      return { ...(await plan(claimed)), decide: (locked) => decide(claimed, locked, real) };
    };
  return (ports) => ({
    ...ports,
    settlements: {
      ...ports.settlements,
      settleAccepted: (share, acceptedFrom, plan) =>
        ports.settlements.settleAccepted(share, acceptedFrom, disguise(plan)),
    },
  });
}

/** Writes past the transaction. */
export function putAtOnce(tables: Tables, { name }: Table<unknown>, key: string, row: unknown): void {
  tables.set(name, (tables.get(name) ?? new Map<string, unknown>()).set(key, row));
}
