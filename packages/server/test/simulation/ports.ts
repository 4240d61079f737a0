import type { EventStore } from "../../src/app/events/event.js";
import type { CreateTransaction } from "../../src/app/transactions/create-transaction.js";
import type { SettlementStore } from "../../src/app/transactions/settlement.js";
import type { TransactionStore } from "../../src/app/transactions/transaction.js";
import type { WalletActivation, WalletStore } from "../../src/app/wallets/wallet.js";
import { assetList } from "../../src/config/asset-list.js";
import type { Actor } from "./scheduler.js";
import type { SimulatedDatabase } from "./simulated-database.js";
import { createSimulatedEventStore } from "./simulated-events.js";
import { createSimulatedSettlementStore } from "./simulated-settlement.js";
import { createSimulatedTransactionStore } from "./simulated-transactions.js";
import { createSimulatedWalletStore } from "./simulated-wallets.js";

/** What one process of the service reaches the world through. */
export interface Ports {
  transactions: TransactionStore;
  settlements: SettlementStore;
  wallets: WalletStore & WalletActivation;
  events: EventStore;
  /** Gives the creator back, unless a planted bug sits there. */
  disguiseCreator: (create: CreateTransaction) => CreateTransaction;
}

export function createPorts(database: SimulatedDatabase, actor: Actor): Ports {
  return {
    transactions: createSimulatedTransactionStore(database, actor),
    settlements: createSimulatedSettlementStore(database, actor),
    wallets: createSimulatedWalletStore(
      database,
      actor,
      assetList.default.map(({ code }) => code),
    ),
    events: createSimulatedEventStore(database, actor),
    disguiseCreator: (create) => create,
  };
}
