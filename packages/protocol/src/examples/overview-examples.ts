import type { Overview, WalletEntryPage, WalletHistory } from "../resources/overview.js";
import type { SearchResult } from "../resources/search.js";
import type { Examples } from "./example.js";
import { exampleIds } from "./example-ids.js";

const found: SearchResult = {
  data: [{ object: "transaction", id: exampleIds.transaction, match: "reference", label: "invoice-2041" }],
};

const lag = { events: 0, seconds: 0 };

const entries: WalletEntryPage = {
  data: [
    {
      sequence: 4711,
      line: 2,
      amount: "-125.5",
      balance: "9874.5",
      asset: "USD",
      cause: "transaction",
      cause_id: exampleIds.transaction,
      occurred_at: "2026-11-16T10:00:00.012Z",
    },
  ],
  next_cursor: null,
  lag,
};

const history: WalletHistory = {
  asset: "USD",
  period: "day",
  data: [{ start: "2026-11-16T00:00:00.000Z", received: "10000", sent: "125.5", balance: "9874.5" }],
  lag,
};

const overview: Overview = {
  period: "day",
  open: [{ state: "awaiting_approval", asset: "USD", count: 2, amount: "40000" }],
  periods: [
    { start: "2026-11-16T00:00:00.000Z", state: "completed", asset: "USD", count: 31, amount: "4100.25" },
  ],
  lag,
};

export const overviewExamples: Examples = {
  SearchResult: { summary: "A transaction", value: found },
  WalletEntryPage: { summary: "A payment", value: entries },
  WalletHistory: { summary: "A day", value: history },
  Overview: { summary: "A day", value: overview },
};
