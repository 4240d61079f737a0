import {
  type AccountKey,
  accountName,
  type Balance,
  feeAccountId,
  feeTenantId,
  marketClearingAccountId,
  type Side,
  type TradedMarket,
  type TradeMoney,
  tradeMoney,
} from "@bursar/domain";
import type { BatchResult, OpenOrderRow, Posting } from "../app/markets/market-store.js";

/** Gathers what a batch does to accounts: how much each one changes, and the postings that say why. */
export interface Purse {
  trade: (
    id: string,
    trade: { price: number; size: number; takerSide: Side },
    buyer: OpenOrderRow,
    seller: OpenOrderRow,
  ) => TradeMoney;
  /** Makes a part of what was set aside for an order free again. */
  release: (order: OpenOrderRow, amount: bigint) => void;
  contents: () => Pick<BatchResult, "postings" | "balances">;
}

export function createPurse(market: TradedMarket): Purse {
  const base = market.base.code;
  const quote = market.quote.code;
  const { makerFeeBasisPoints: makerFee, takerFeeBasisPoints: takerFee } = market.definition;
  const balances = new Map<string, Balance>();
  const postings: Posting[] = [];

  function change(key: AccountKey, by: Partial<Balance>): void {
    const name = accountName(key);
    const { available, held } = balances.get(name) ?? { available: 0n, held: 0n };
    balances.set(name, { available: available + (by.available ?? 0n), held: held + (by.held ?? 0n) });
  }

  /** From what is held for an order to the tenant's account with the market. */
  function pay(tradeId: string, line: number, order: OpenOrderRow, asset: string, amount: bigint): void {
    const { tenantId, walletId } = order;
    change({ tenantId, accountId: walletId, asset }, { held: -amount });
    change({ tenantId, accountId: marketClearingAccountId, asset }, { available: amount });
    post({
      tenantId,
      tradeId,
      line,
      debitAccountId: walletId,
      creditAccountId: marketClearingAccountId,
      asset,
      amount,
    });
  }

  function receive(
    tradeId: string,
    line: number,
    { tenantId, walletId }: Pick<OpenOrderRow, "tenantId" | "walletId">,
    asset: string,
    amount: bigint,
  ): void {
    if (amount === 0n) return;
    change({ tenantId, accountId: marketClearingAccountId, asset }, { available: -amount });
    change({ tenantId, accountId: walletId, asset }, { available: amount });
    post({
      tenantId,
      tradeId,
      line,
      debitAccountId: marketClearingAccountId,
      creditAccountId: walletId,
      asset,
      amount,
    });
  }

  function post(posting: Posting): void {
    postings.push(posting);
  }

  const house = { tenantId: feeTenantId, walletId: feeAccountId };
  return {
    trade: (id, trade, buyer, seller) => {
      const fees =
        trade.takerSide === "buy"
          ? { buyer: takerFee, seller: makerFee }
          : { buyer: makerFee, seller: takerFee };
      const money = tradeMoney(trade, fees, market.steps);
      pay(id, 1, seller, base, money.base);
      receive(id, 2, buyer, base, money.base - money.buyerFee);
      pay(id, 3, buyer, quote, money.quote);
      receive(id, 4, seller, quote, money.quote - money.sellerFee);
      receive(id, 5, house, base, money.buyerFee);
      receive(id, 6, house, quote, money.sellerFee);
      return money;
    },
    release: ({ tenantId, walletId, side }, amount) =>
      change(
        { tenantId, accountId: walletId, asset: side === "buy" ? quote : base },
        { available: amount, held: -amount },
      ),
    contents: () => ({ postings, balances }),
  };
}
