import { accountOfParty } from "@bursar/domain";
import { isWithRail, type RailTransaction, type RailTransactionStore } from "../../../src/app/rails/rail.js";
import type { Actor } from "../world/scheduler.js";
import type { SimulatedDatabase } from "./simulated-database.js";
import type { Rows } from "./simulated-rows.js";
import { eventsOf, keyOf, type OpenTransaction, openTransactions, transactions } from "./simulated-tables.js";

/** `store/transactions/rail-transactions.ts`, on the simulated database. */
export function createSimulatedRailTransactionStore(
  database: SimulatedDatabase,
  actor: Actor,
): RailTransactionStore {
  return {
    listOnRail: (assets, limit, afterId) =>
      database.query(actor, "list on rail", (rows) =>
        rows
          .all(openTransactions)
          .filter(({ id, state }) => isWithRail(state) && (afterId === undefined || id > afterId))
          .sort((one, other) => (one.id < other.id ? -1 : 1))
          .flatMap((open) => readOne(rows, open))
          .filter(({ asset }) => assets.includes(asset))
          .slice(0, limit),
      ),
  };
}

function readOne(rows: Rows, open: OpenTransaction): RailTransaction[] {
  const { tenantId, id, state, version, feeHold, cancelRequested } = open;
  const accepted = rows.get(transactions, keyOf(tenantId, id));
  if (accepted === undefined || !isWithRail(state)) return [];
  const { asset, amount, parties } = accepted;
  const hashes = eventsOf(rows, tenantId, id).map(({ details }) => (details as { hash?: string })?.hash);
  return [
    {
      ...{ tenantId, id, state, version, feeHold, cancelRequested, asset: asset.code, amount },
      kind: parties.kind,
      sourceAccountId: accountOfParty(parties.source, asset.network),
      destinationAccountId: accountOfParty(parties.destination, asset.network),
      destinationAddress: parties.kind === "payout" ? parties.destination.address : null,
      hash: hashes.findLast((hash) => hash !== undefined) ?? null,
    },
  ];
}
