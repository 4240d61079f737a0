import { type AssetRegistry, formatAmount } from "@bursar/domain";
import { isRefused, type Refused } from "../requests/refused.js";
import type { Search } from "../search/search.js";
import type { WalletUseCases } from "../wallets/wallet-use-cases.js";

/** A change of a wallet's balance of an asset, in base units, and the balance after it. */
export interface WalletEntry {
  sequence: number;
  /** An event can change a balance several times: an amount and a fee. */
  line: number;
  amount: bigint;
  balance: bigint;
  cause: "transaction" | "order";
  causeId: string;
  /** That of the transaction or order. */
  reference: string | null;
  occurredAt: Date;
}

type Period = "hour" | "day";

export interface BalancePoint {
  start: Date;
  received: bigint;
  sent: bigint;
  /** At the end of the period. */
  balance: bigint;
}

export interface StateSum {
  state: string;
  asset: string;
  count: number;
  amount: bigint;
}

export interface PeriodSum extends StateSum {
  start: Date;
}

/** How far the reader of the log is behind. */
interface Lag {
  events: number;
  /** The age of the oldest event that was not read; 0 if there is none. */
  seconds: number;
}

export interface TimeRange {
  from: Date | undefined;
  to: Date | undefined;
}

/** Reads what the reader of the log has written. */
export interface OverviewStore {
  listEntries: (wanted: EntriesWanted) => Promise<WalletEntry[]>;
  listPoints: (
    wanted: WalletAsset & TimeRange & { period: Period; limit: number },
  ) => Promise<BalancePoint[]>;
  listOpen: (tenantId: string) => Promise<StateSum[]>;
  listPeriods: (
    wanted: TimeRange & { tenantId: string; period: Period; asset: string | undefined; limit: number },
  ) => Promise<PeriodSum[]>;
  readLag: (tenantId: string, now: Date) => Promise<Lag>;
}

interface WalletAsset {
  tenantId: string;
  walletId: string;
  asset: string;
}

export type EntryPosition = Pick<WalletEntry, "sequence" | "line">;

interface EntriesWanted extends WalletAsset {
  limit: number;
  before: EntryPosition | undefined;
}

type Shown<T> = { [K in keyof T]: T[K] extends bigint ? string : T[K] };

export interface OverviewUseCases {
  search: Search;
  listWalletEntries: (
    wanted: EntriesWanted,
  ) => Promise<{ entries: Shown<WalletEntry>[]; lag: Lag } | Refused>;
  showWalletHistory: (
    wanted: WalletAsset & TimeRange & { period: Period },
  ) => Promise<{ points: Shown<BalancePoint>[]; lag: Lag } | Refused>;
  showOverview: (
    wanted: TimeRange & { tenantId: string; period: Period; asset: string | undefined },
  ) => Promise<{ open: Shown<StateSum>[]; periods: Shown<PeriodSum>[]; lag: Lag }>;
}

export interface OverviewDeps {
  store: OverviewStore;
  assets: AssetRegistry;
  readWallet: WalletUseCases["readWallet"];
  now: () => number;
}

/** No chart shows more. */
const pointsMax = 400;
const sumsMax = 2000;

const periodMs: Readonly<Record<Period, number>> = { hour: 3_600_000, day: 86_400_000 };

/** The last periods of a range: a filter by asset would otherwise read the whole history to find nothing. */
function boundRange({ from, to }: TimeRange, period: Period, nowMs: number): TimeRange {
  const endMs = Math.min(to?.getTime() ?? nowMs, nowMs);
  const least = new Date(endMs - pointsMax * periodMs[period]);
  return { from: from === undefined || from < least ? least : from, to };
}

/** The lag is read first, so that what is shown is at least as new as it says. */
export function createOverview({
  store,
  assets,
  readWallet,
  now,
}: OverviewDeps): Omit<OverviewUseCases, "search"> {
  const readLag = (tenantId: string) => store.readLag(tenantId, new Date(now()));
  const shower = (asset: string) => {
    const decimals = assets.find(asset)?.decimals ?? 0;
    return (units: bigint) =>
      units < 0n ? `-${formatAmount(-units, decimals)}` : formatAmount(units, decimals);
  };
  const showSum = <Sum extends StateSum>(sum: Sum) => ({ ...sum, amount: shower(sum.asset)(sum.amount) });

  return {
    listWalletEntries: async (wanted) => {
      const wallet = await readWallet(wanted.tenantId, wanted.walletId);
      if (isRefused(wallet)) return wallet;
      const lag = await readLag(wanted.tenantId);
      const show = shower(wanted.asset);
      const entries = await store.listEntries(wanted);
      return {
        entries: entries.map((entry) => ({
          ...entry,
          amount: show(entry.amount),
          balance: show(entry.balance),
        })),
        lag,
      };
    },
    showWalletHistory: async (wanted) => {
      const wallet = await readWallet(wanted.tenantId, wanted.walletId);
      if (isRefused(wallet)) return wallet;
      const lag = await readLag(wanted.tenantId);
      const show = shower(wanted.asset);
      const points = await store.listPoints({ ...wanted, limit: pointsMax });
      return {
        points: points.map(({ start, received, sent, balance }) => {
          return { start, received: show(received), sent: show(sent), balance: show(balance) };
        }),
        lag,
      };
    },
    showOverview: async (wanted) => {
      const lag = await readLag(wanted.tenantId);
      const open = await store.listOpen(wanted.tenantId);
      const range = boundRange(wanted, wanted.period, now());
      const periods = await store.listPeriods({ ...wanted, ...range, limit: sumsMax });
      const isWanted = ({ asset }: StateSum) => wanted.asset === undefined || asset === wanted.asset;
      return { open: open.filter(isWanted).map(showSum), periods: periods.map(showSum), lag };
    },
  };
}
