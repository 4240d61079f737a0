import {
  type CommandPosition,
  type MarketLease,
  MarketMovedError,
  type MarketStore,
  type MarketUnit,
} from "../../app/markets/market-store.js";
import { coalesce } from "../../runtime/concurrency/coalesce.js";
import { type Database, type Tx, violates } from "../core/database.js";
import { recordFailure } from "../core/rows/failures.js";
import type { EventLog } from "../events/events.js";
import { lockAccounts, withLedger } from "../ledger/ledger.js";
import { createActivePolicyReads } from "../policy/policies.js";
import { lockUsage } from "../policy/usage.js";
import type { ObserveOrders } from "../tracing/trace-orders.js";
import { changesOfRejected, writeAdmission } from "./admit-orders.js";
import { claimOrders, findMarketsToDo, orderFailures } from "./claim-orders.js";
import { lockMarket, type MarketPosition } from "./market-leases.js";
import type { LockedOrder } from "./order-integrity.js";
import { lockOrders, writeBatch } from "./write-batch.js";

/** Far more than there are. */
const marketsMax = 1000;

export function createMarketUnits(
  database: Database,
  log: EventLog,
  observeOrders?: ObserveOrders,
): Pick<MarketStore, "hasWork" | "unitOfWork" | "recordFailure"> {
  // The engines of all markets of a process look in the same moment, and then it is one statement for all of them.
  const hasWork = coalesce<{ market: string; now: Date }, boolean>(
    ({ market }) => market,
    async (asked) => {
      const now = asked[0]?.now ?? new Date();
      const markets = asked.map(({ market }) => market);
      const found = await findMarketsToDo(database, markets, now);
      return new Map(markets.map((market) => [market, found.has(market)]));
    },
    marketsMax,
  );
  return {
    hasWork: async (market, now) => (await hasWork({ market, now })) === true,
    unitOfWork: (lease, work, expected) =>
      withLedger(database, async (tx) => {
        const { unit, locked } = createMarketUnit(tx, log, lease, expected, observeOrders?.(lease.market));
        const result = await work(unit);
        await locked;
        return result;
      }).catch((error: unknown) => {
        if (!violates(error, "market_commands_pkey")) throw error;
        // No order is at fault. When the market is loaded again, its position follows its log.
        throw new MarketMovedError(`the log of ${lease.market} has commands beyond its position`, {
          cause: error,
        });
      }),
    recordFailure: (order, error, now) => recordFailure(database, orderFailures, order, error, now),
  };
}

function createMarketUnit(
  tx: Tx,
  log: EventLog,
  lease: MarketLease,
  expected: CommandPosition | undefined,
  onWriting: ReturnType<ObserveOrders> | undefined,
) {
  const { market } = lease;
  // Not awaited: it travels together with the unit's first statement. If the lease was lost, that one has read in vain.
  const locked = lockMarket(tx, lease).then((position) => assertAt(market, position, expected));
  locked.catch(() => undefined);
  const lockedOrders = new Map<string, LockedOrder>();
  const underLease = async <T>(rows: Promise<T>): Promise<T> => (await Promise.all([locked, rows]))[1];
  const unit: MarketUnit = {
    claimOrders: (claim) => underLease(claimOrders(tx, market, claim)),
    ...createActivePolicyReads(tx),
    lockUsage: (windows, now) => lockUsage(tx, windows, now),
    writeAdmission: async (claimed, admission, balances) => {
      const { admittedSequence } = await locked;
      await onWriting?.(tx, changesOfRejected(admission));
      return await writeAdmission(tx, log, { market, admittedSequence }, claimed, admission, balances);
    },
    lockOrders: (keys) => underLease(lockOrders(tx, keys, (id, order) => void lockedOrders.set(id, order))),
    lockAccounts: (accounts) => lockAccounts(tx, accounts),
    writeBatch: async (batch, balances) => {
      await onWriting?.(tx, batch.changes);
      return await writeBatch(
        tx,
        log,
        { market, position: await locked, locked: lockedOrders },
        batch,
        balances,
      );
    },
  };
  return { unit, locked };
}

function assertAt(
  market: string,
  position: MarketPosition,
  expected: CommandPosition = position,
): MarketPosition {
  const { admittedSequence, appliedSequence } = position;
  if (admittedSequence === expected.admittedSequence && appliedSequence === expected.appliedSequence)
    return position;
  throw new MarketMovedError(
    `the market ${market} is at ${appliedSequence} of ${admittedSequence} and not at ${expected.appliedSequence} of ${expected.admittedSequence}`,
  );
}
