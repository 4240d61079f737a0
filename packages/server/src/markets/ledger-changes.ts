import {
  feeAccountId,
  feeTenantId,
  type Hold,
  type LedgerChange,
  marketClearingAccountId,
  type Side,
  type TradedMarket,
  type TradeMoney,
  tradeMoney,
} from "@bursar/domain";
import type { LedgerEntry } from "../app/ledger/ledger-unit.js";
import type { OpenOrderRow } from "../app/markets/market-store.js";

type Payee = Pick<OpenOrderRow, "tenantId" | "walletId">;

const feePayee: Payee = { tenantId: feeTenantId, walletId: feeAccountId };

/** Gathers what the trades and releases of a batch do to the ledger, as one change: everything is paid from what it releases. */
export interface LedgerChanges {
  /** Adds the postings of a trade. What the two orders hold for it must be released as well. */
  addTrade: (
    id: string,
    trade: { price: number; size: number; takerSide: Side },
    buyer: OpenOrderRow,
    seller: OpenOrderRow,
  ) => TradeMoney;
  addRelease: (order: OpenOrderRow, amount: bigint) => void;
  change: LedgerChange & { postings: readonly LedgerEntry[] };
}

export function createLedgerChanges(market: TradedMarket): LedgerChanges {
  const base = market.base.code;
  const quote = market.quote.code;
  const { makerFeeBasisPoints: makerFee, takerFeeBasisPoints: takerFee } = market.definition;
  const releases: Hold[] = [];
  const postings: LedgerEntry[] = [];

  /** A trade crosses tenants, so each side pays its own clearing account and is paid from it. */
  function pay(transactionId: string, line: number, payer: Payee, asset: string, amount: bigint): void {
    const { tenantId, walletId: debit } = payer;
    postings.push({ transactionId, tenantId, line, debit, credit: marketClearingAccountId, asset, amount });
  }

  function receive(transactionId: string, line: number, payee: Payee, asset: string, amount: bigint): void {
    if (amount === 0n) return;
    const { tenantId, walletId: credit } = payee;
    postings.push({ transactionId, tenantId, line, debit: marketClearingAccountId, credit, asset, amount });
  }

  return {
    addTrade: (id, trade, buyer, seller) => {
      const fees =
        trade.takerSide === "buy"
          ? { buyer: takerFee, seller: makerFee }
          : { buyer: makerFee, seller: takerFee };
      const money = tradeMoney(trade, fees, market.steps);
      pay(id, 1, seller, base, money.base);
      receive(id, 2, buyer, base, money.base - money.buyerFee);
      pay(id, 3, buyer, quote, money.quote);
      receive(id, 4, seller, quote, money.quote - money.sellerFee);
      receive(id, 5, feePayee, base, money.buyerFee);
      receive(id, 6, feePayee, quote, money.sellerFee);
      return money;
    },
    addRelease: ({ tenantId, walletId: account, side }, amount) =>
      void releases.push({ tenantId, account, asset: side === "buy" ? quote : base, amount }),
    change: { releases, postings, holds: [] },
  };
}
