import type { EventStore } from "../../../src/app/events/event.js";
import type { RailTransactionStore } from "../../../src/app/rails/rail.js";
import type { RailRecorder } from "../../../src/app/rails/record-rail-events.js";
import type { CreateTransaction } from "../../../src/app/transactions/create-transaction.js";
import type { SettlementStore } from "../../../src/app/transactions/settlement.js";
import type { TransactionStore } from "../../../src/app/transactions/transaction.js";
import type { WalletActivation, WalletStore } from "../../../src/app/wallets/wallet.js";
import type { ConfirmDatabase } from "../../../src/runtime/database/confirm-database.js";
import type { DatabaseClock, DatabaseTime } from "../../../src/runtime/database/database-clock.js";
import type { DatabaseIdentity } from "../../../src/runtime/database/database-identity.js";
import type { SteppingNetwork } from "../../harness/rails/stepping-network.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import { createSimulatedEventStore } from "../database/simulated-events.js";
import { createSimulatedRailTransactionStore } from "../database/simulated-rail-transactions.js";
import { createSimulatedSettlementStore } from "../database/simulated-settlement.js";
import { createSimulatedTransactionStore } from "../database/simulated-transactions.js";
import { createSimulatedWalletStore } from "../database/simulated-wallets.js";
import type { Actor } from "./scheduler.js";
import { simulatedAssets } from "./simulated-assets.js";

/** What one process of the service reaches the world through. */
export interface Ports {
  transactions: TransactionStore;
  settlements: SettlementStore;
  wallets: WalletStore & WalletActivation;
  events: EventStore;
  railTransactions: RailTransactionStore;
  identity: DatabaseIdentity;
  confirm: ConfirmDatabase;
  readDatabaseTime: (monotonicMs: () => number) => Promise<DatabaseTime>;
  /** Give what they are given, unless a planted bug sits there. */
  disguiseClock: (clock: DatabaseClock) => DatabaseClock;
  disguiseNetwork: (network: SteppingNetwork) => SteppingNetwork;
  disguiseRecorder: (recorder: RailRecorder) => RailRecorder;
  /** Gives the creator back, unless a planted bug sits there. */
  disguiseCreator: (create: CreateTransaction) => CreateTransaction;
}

export function createPorts(database: SimulatedDatabase, actor: Actor, identity: DatabaseIdentity): Ports {
  return {
    transactions: createSimulatedTransactionStore(database, actor, identity),
    settlements: createSimulatedSettlementStore(database, actor),
    wallets: createSimulatedWalletStore(
      database,
      actor,
      simulatedAssets.list.map(({ code }) => code),
    ),
    events: createSimulatedEventStore(database, actor),
    railTransactions: createSimulatedRailTransactionStore(database, actor),
    identity,
    confirm: () => Promise.resolve(true),
    readDatabaseTime: async (monotonicMs) => {
      const askedMs = monotonicMs();
      const databaseMs = await database.query(actor, "read the clock", () => database.now());
      return { databaseMs, askedMs, answeredMs: monotonicMs() };
    },
    disguiseClock: (clock) => clock,
    disguiseNetwork: (network) => network,
    disguiseRecorder: (recorder) => recorder,
    disguiseCreator: (create) => create,
  };
}
