import type { Overview, WalletEntryPage, WalletHistory } from "../resources/overview.js";
import type { SearchResult } from "../resources/search.js";
import type { FailedItem, System } from "../resources/system.js";
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
      reference: "invoice-2041",
      occurred_at: "2026-11-16T10:00:00.012Z",
    },
  ],
  next_cursor: null,
  lag,
};

const csv = [
  "sequence,line,occurred_at,asset,amount,balance,cause,cause_id,reference",
  `4711,2,2026-11-16T10:00:00.012Z,USD,-125.5,9874.5,transaction,${exampleIds.transaction},invoice-2041`,
  "",
].join("\r\n");

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

const system: System = {
  object: "system",
  version: "0.1.0",
  schema_version: 72,
  process: {
    id: "0199f3a2-6c1e-7b50-8d3c-2f6f0a9b1c4d",
    started_at: "2026-11-16T08:00:00.000Z",
    overloaded: false,
    ready: true,
    not_ready: [],
  },
  database: {
    epoch: exampleIds.epoch,
    clock: "trusted",
    connections: { max: 20, in_use: 2, idle: 3, waiting: 0 },
  },
  transactions: {
    accepted: { count: 0, has_more: false, oldest_at: null },
    awaiting_approval: { count: 2, has_more: false },
    on_rails: 1,
  },
  deliveries: {
    pending: { count: 3, has_more: false, oldest_at: "2026-11-16T09:58:12.000Z" },
    deferred_events: 0,
    failing_endpoints: 1,
    disabled_endpoints: 0,
  },
  reader: lag,
  markets: [
    {
      market: "ETH-USD",
      state: "running",
      holder: { process_id: "0b6f6f0e-8f0f-4d3b-9a5e-0f6f5f3c2d10", since: "2026-01-01T12:00:00.000Z" },
    },
  ],
  signer: "up",
  networks: [{ network: "eip155:31337", state: "following", unreachable_since: null }],
  keys: { token: [exampleIds.key], token_unreadable: [], audit: ["9f1c2b3a4d5e6f70"] },
};

const failure: FailedItem = {
  object: "failure",
  kind: "transaction",
  id: exampleIds.transaction,
  attempts: 3,
  state: "waiting",
  retry_at: "2026-11-16T10:00:20.000Z",
};

export const overviewExamples: Examples = {
  System: { summary: "A quiet hour", value: system },
  FailureList: { summary: "A transaction", value: { data: [failure] } },
  RetriedFailure: { value: { id: exampleIds.transaction, state: "due" } },
  SearchResult: { summary: "A transaction", value: found },
  WalletEntryPage: { summary: "A payment", value: entries },
  WalletEntryCsv: { summary: "A payment", value: csv },
  WalletHistory: { summary: "A day", value: history },
  Overview: { summary: "A day", value: overview },
};
