import { limitHold, type TradedMarket } from "@bursar/domain";
import type { Admission, ClaimedOrder, NewCommand } from "../app/markets/market-store.js";
import type { OrderFailure } from "../app/markets/order.js";
import { type AccountKey, type Accounts, accountName } from "../app/transactions/settlement.js";

/** The accounts that new orders set something aside in. */
export function accountsOfOrders(market: TradedMarket, claimed: readonly ClaimedOrder[]): AccountKey[] {
  const keys = new Map<string, AccountKey>();
  for (const order of claimed) {
    if (!order.isNew) continue;
    const key = payingAccount(market, order);
    keys.set(accountName(key), key);
  }
  return [...keys.values()];
}

/**
 * Holds the funds of new orders, one after the other, and makes commands of what is asked for. Each sees the balances that the one
 * before has left. What an order receives counts from the commit of its trade on, not within the batch.
 */
export function admitOrders(
  market: TradedMarket,
  claimed: readonly ClaimedOrder[],
  accounts: Accounts,
  occurredAt: Date,
): Admission {
  const commands: NewCommand[] = [];
  const holds = new Map<string, bigint>();
  const rejected: { order: ClaimedOrder; failure: OrderFailure }[] = [];
  for (const order of claimed) {
    const { tenantId, id: orderId } = order;
    if (order.isNew) {
      const hold = holdOf(market, order);
      const failure = tryToHold(market, order, hold, accounts);
      if (failure !== null) {
        rejected.push({ order, failure });
        continue;
      }
      holds.set(orderId, hold);
      commands.push({ kind: "place", tenantId, orderId, order });
    }
    if (order.cancelRequested) commands.push({ kind: "cancel", tenantId, orderId });
    else if (order.amendSize !== null)
      commands.push({ kind: "amend", tenantId, orderId, size: order.amendSize });
  }
  return { occurredAt, commands, holds, rejected };
}

/** What an order can cost at most. */
function holdOf({ steps }: TradedMarket, { side, price, size, quoteSize }: ClaimedOrder): bigint {
  if (price !== null && size !== null) return limitHold(side, price, size, steps);
  if (quoteSize !== null) return quoteSize;
  if (side === "sell" && size !== null) return limitHold("sell", 1, size, steps);
  throw new Error("an order without a price sells a size or spends an amount");
}

function tryToHold(
  market: TradedMarket,
  order: ClaimedOrder,
  hold: bigint,
  accounts: Accounts,
): OrderFailure | null {
  if (order.walletIsFrozen) return "WALLET_FROZEN";
  const name = accountName(payingAccount(market, order));
  const balance = accounts.get(name);
  if (balance === undefined) throw new Error("an account was not locked");
  if (balance.available < hold) return "INSUFFICIENT_FUNDS";
  accounts.set(name, { available: balance.available - hold, held: balance.held + hold });
  return null;
}

function payingAccount(market: TradedMarket, { tenantId, walletId, side }: ClaimedOrder): AccountKey {
  const asset = side === "buy" ? market.quote.code : market.base.code;
  return { tenantId, ownerId: walletId, asset };
}
