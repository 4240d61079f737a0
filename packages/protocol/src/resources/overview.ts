import { transactionStates } from "@bursar/domain";
import { type Static, Type } from "typebox";
import { Page, PageQuery } from "../pagination.js";
import { Nullable, OneOf, TimeFilter, Timestamp } from "../values.js";

const periods = ["hour", "day"] as const;

/** How far statements and sums are behind the event log. */
export const Lag = Type.Object(
  {
    events: Type.Integer({ description: "The number of events that are not yet included." }),
    seconds: Type.Number({ description: "The age of the oldest of them; 0 if there is none." }),
  },
  {
    $id: "Lag",
    description: "Statements and sums are made from the event log, a moment after it is written.",
  },
);

const asset = Type.String({
  minLength: 1,
  maxLength: 32,
  description: "The code of the asset.",
  examples: ["USD"],
});

const from = TimeFilter("Only periods that begin at this time or later.", "2026-11-01T00:00:00Z");
const to = TimeFilter("Only periods that begin before this time.", "2026-12-01T00:00:00Z");
export const Period = OneOf(periods, {
  description: "The length of a period, in UTC; `day` if left out.",
  examples: ["day"],
});

/** The periods of a chart. */
export const PeriodRange = { from: Type.Optional(from), to: Type.Optional(to) };

const WalletEntry = Type.Object(
  {
    sequence: Type.Integer({ description: "The sequence of the event that it belongs to." }),
    line: Type.Integer({ description: "Numbers the entries of one event." }),
    amount: Type.String({ description: "What was added to the balance; negative if it was taken." }),
    balance: Type.String({ description: "The balance after it, available and held." }),
    asset: Type.String(),
    cause: OneOf(["transaction", "order"], { description: "What has changed the balance." }),
    cause_id: Type.String({ description: "The id of the transaction or order." }),
    reference: Nullable(
      Type.String(),
      "The reference of the transaction or order; null if an order has none, or if the token lacks `transactions:read` or `orders:read`.",
    ),
    occurred_at: Timestamp(),
  },
  { $id: "WalletEntry" },
);

export const WalletEntryPage = Type.Object(
  { ...Page(WalletEntry, "").properties, lag: Lag },
  { $id: "WalletEntryPage" },
);
export type WalletEntryPage = Static<typeof WalletEntryPage>;

export const WalletEntryCsv = Type.String({
  $id: "WalletEntryCsv",
  description: "A header line and a line for each entry of the page.",
});

export const WalletEntryQuery = Type.Object(
  { ...PageQuery("entries").properties, asset },
  { additionalProperties: false },
);

const BalancePoint = Type.Object(
  {
    start: Timestamp("When the period begins."),
    received: Type.String(),
    sent: Type.String(),
    balance: Type.String({ description: "At the end of the period, available and held." }),
  },
  { $id: "BalancePoint" },
);

export const WalletHistory = Type.Object(
  {
    asset: Type.String(),
    period: OneOf(periods),
    data: Type.Array(BalancePoint, {
      maxItems: 400,
      description:
        "Oldest first; the newest 400 of the given time. A period in which nothing has changed has no point.",
    }),
    lag: Lag,
  },
  { $id: "WalletHistory" },
);
export type WalletHistory = Static<typeof WalletHistory>;

export const WalletHistoryQuery = Type.Object(
  { asset, period: Type.Optional(Period), ...PeriodRange },
  { additionalProperties: false },
);

const State = OneOf(Object.keys(transactionStates) as (keyof typeof transactionStates)[]);
const sum = {
  state: State,
  asset: Type.String(),
  count: Type.Integer(),
  amount: Type.String({ description: "The sum of their amounts." }),
};

export const Overview = Type.Object(
  {
    period: OneOf(periods),
    open: Type.Array(Type.Object(sum, { $id: "StateSum" }), {
      description:
        "The transactions that are in a state now. Those that are `accepted` are not in the event log yet.",
    }),
    periods: Type.Array(Type.Object({ start: Timestamp(), ...sum }, { $id: "PeriodSum" }), {
      maxItems: 2000,
      description:
        "The transactions that entered a state in a period. Oldest first. Only the last 400 periods of the given time are read, and the newest 2000 sums of these are returned.",
    }),
    lag: Lag,
  },
  { $id: "Overview" },
);
export type Overview = Static<typeof Overview>;

export const OverviewQuery = Type.Object(
  {
    asset: Type.Optional(asset),
    period: Type.Optional(Period),
    ...PeriodRange,
  },
  { additionalProperties: false },
);
