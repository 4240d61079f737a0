// The proofs are tests that search for failures instead of checking one behaviour, so a larger size makes them stronger.
// `npm run test:proofs` runs all of them at their short sizes, `npm run test:long -- <proof>` runs one at its long sizes.

/**
 * @typedef {{ env: string, short?: number, long?: number, means: string }} Size A size without numbers is left to the test unless it is given.
 * @typedef {{ shows: string, files: string[], sizes: Record<string, Size> }} Proof
 */

const server = "packages/server/test";

/** @param {string} folder @param {string[]} names */
const integration = (folder, ...names) =>
  names.map((name) => `${server}/integration/${folder}/${name}.test.ts`);

/** @satisfies {Record<string, Proof>} */
export const proofs = {
  kill: {
    shows: "every accepted transaction and order has one final result when processes are killed under load",
    files: [`${server}/faults/kill.test.ts`, `${server}/faults/market-kill.test.ts`],
    sizes: {
      times: { env: "BURSAR_KILLS", short: 3, long: 1000, means: "kills of the service" },
      "postgres-times": { env: "BURSAR_POSTGRES_KILLS", short: 2, long: 1000, means: "kills of PostgreSQL" },
      "market-times": {
        env: "BURSAR_MARKET_KILLS",
        short: 2,
        long: 1000,
        means: "kills of a process that runs a market",
      },
    },
  },
  failover: {
    shows:
      "with PostgreSQL's replication, no acknowledged write is lost or doubled by a synchronous failover, and after an asynchronous one nothing is shown that the database does not have",
    files: [`${server}/faults/failover/*.test.ts`],
    sizes: {
      synchronous: {
        env: "BURSAR_FAILOVERS",
        short: 1,
        long: 50,
        means: "failovers to a synchronous standby",
      },
      asynchronous: {
        env: "BURSAR_LOSSY_FAILOVERS",
        short: 1,
        long: 20,
        means: "failovers to a standby that has not received the last commits",
      },
    },
  },
  soak: {
    shows:
      "two processes under load use no more memory, handles and connections at the end than in the beginning",
    files: [`${server}/faults/soak.test.ts`],
    sizes: {
      seconds: { env: "BURSAR_SOAK_SECONDS", short: 20, long: 600, means: "seconds of load" },
    },
  },
  stream: {
    shows: "clients of the stream miss nothing and see nothing twice when their connections are cut",
    files: [`${server}/faults/stream/stream.test.ts`, `${server}/faults/stream/stream-deltas.test.ts`],
    sizes: {
      cuts: { env: "BURSAR_CUTS", short: 12, long: 200, means: "connections that are cut" },
      events: { env: "BURSAR_EVENTS", short: 600, long: 20_000, means: "events that happen meanwhile" },
      kills: { env: "BURSAR_STREAM_KILLS", short: 2, long: 20, means: "kills of the service" },
      deltas: { env: "BURSAR_DELTAS", short: 1500, long: 100_000, means: "changes of an order book" },
    },
  },
  database: {
    shows:
      "a database that goes back in time or cannot write is noticed, and nothing is shown that it does not have",
    files: [`${server}/faults/rewound/*.test.ts`, `${server}/faults/storage-faults.test.ts`],
    sizes: {},
  },
  plans: {
    shows: "every statement is served by an index, whatever the planner's statistics say",
    files: [
      `${server}/integration/database/plans.test.ts`,
      `${server}/integration/database/queue-plans.test.ts`,
    ],
    sizes: {},
  },
  endurance: {
    shows: "markets, streams, limits and connections hold under random, long and faulty activity",
    files: [
      ...integration("markets", "market-proofs", "market-bounds", "frozen-orders"),
      ...integration("stream", "stream-markets", "stream-endurance"),
      ...integration("edge", "overload", "shared-quotas", "raw/stream-frames"),
      ...integration("transactions", "failing-transactions", "exactly-once"),
      ...integration("database", "idle", "migrate", "hanging-commits", "connections"),
      ...integration("webhooks", "webhook-sender", "dead-endpoints", "delivery-backlogs"),
      "packages/domain/src/policy/comparison/compare-policies-against-judge.test.ts",
    ],
    sizes: {},
  },
  authority: {
    shows: "attacks by many clients, and by a writer to the database, do not approve, undo or hide anything",
    files: [
      `${server}/integration/access/approvals/approval-bounds.test.ts`,
      `${server}/integration/access/change-requests/change-request-attacks.test.ts`,
      `${server}/integration/access/clients/reseal.test.ts`,
      `${server}/integration/access/clients/stale-tokens.test.ts`,
      `${server}/integration/access/people/one-passkey.test.ts`,
      `${server}/integration/access/clients/tampered-clients.test.ts`,
      `${server}/integration/tampering/**/*.test.ts`,
    ],
    sizes: {},
  },
  patience: {
    shows: "what needs retries, expiries or many rows ends as it should",
    files: [
      ...integration(
        "access",
        "approvals/approve-by-other-ways",
        "clients/client-changes",
        "clients/disabled-clients",
      ),
      ...integration("chains", "catch-up", "chain-requests", "settlement-faults"),
      ...integration("database", "clocks", "idempotency", "recover"),
      ...integration("markets", "amendments", "price-band"),
      ...integration("edge", "console-pages"),
      ...integration("metrics", "traces"),
      ...integration("stream", "stream-events"),
      ...integration("transactions", "judged-transactions"),
    ],
    sizes: {},
  },
  webhooks: {
    shows: "every webhook arrives, verified, at receivers that fail at random, from a service that is killed",
    files: [`${server}/faults/webhook-storm.test.ts`],
    sizes: {
      deliveries: { env: "BURSAR_STORM_DELIVERIES", short: 300, long: 50_000, means: "deliveries" },
      endpoints: { env: "BURSAR_STORM_ENDPOINTS", short: 20, long: 100, means: "endpoints" },
      kills: { env: "BURSAR_STORM_KILLS", short: 1, long: 5, means: "kills of the service" },
      seed: { env: "BURSAR_STORM_SEED", means: "the seed of the receivers' failures" },
    },
  },
  simulation: {
    shows: "the core keeps its invariants under simulated faults, and planted bugs are found",
    files: [`${server}/simulation/simulation.test.ts`],
    sizes: {
      seeds: { env: "BURSAR_SIM_SEEDS", short: 250, long: 100_000, means: "seeds" },
      seed: { env: "BURSAR_SIM_SEED", means: "runs one seed and prints its steps" },
    },
  },
  chain: {
    shows:
      "with the service, PostgreSQL, the signer and the development chain as processes that are killed at every step, nodes that fail and lie, and reorganisations, each payment is paid once and the ledger equals the chain",
    files: [
      `${server}/faults/chain/*.test.ts`,
      `${server}/integration/chains/chain-plans.test.ts`,
      `${server}/integration/chains/halts.test.ts`,
      `${server}/integration/chains/restored/*.test.ts`,
      `${server}/integration/chains/driver*.test.ts`,
      `${server}/integration/chains/signing/killed-while-signing.test.ts`,
      `${server}/integration/chains/replaced-payments.test.ts`,
      `${server}/integration/chains/stop-*.test.ts`,
    ],
    sizes: {
      payouts: { env: "BURSAR_CHAIN_PAYOUTS", short: 60, long: 20_000, means: "payments to addresses" },
      deposits: { env: "BURSAR_CHAIN_DEPOSITS", short: 50, long: 20_000, means: "payments of outsiders" },
      kills: {
        env: "BURSAR_CHAIN_KILLS",
        short: 9,
        long: 102,
        means: "kills, 102 for all steps and processes",
      },
      seed: { env: "BURSAR_CHAIN_PROOF_SEED", means: "the seed of the faults" },
    },
  },
  "chain-simulation": {
    shows:
      "the driver of a chain pays once and its books equal the chain under simulated faults, and planted bugs are found",
    files: [`${server}/simulation/chain/*.test.ts`],
    sizes: {
      seeds: { env: "BURSAR_CHAIN_SEEDS", short: 500, long: 100_000, means: "seeds" },
      from: {
        env: "BURSAR_CHAIN_FIRST_SEED",
        means: "the first of the seeds, so that a long run can be continued",
      },
      seed: { env: "BURSAR_CHAIN_SEED", means: "runs one seed and prints its steps" },
    },
  },
  book: {
    shows: "the order book behaves like a simple reference implementation",
    files: ["packages/domain/test/book/comparison.test.ts"],
    sizes: {
      operations: { env: "BURSAR_BOOK_OPERATIONS", short: 24_000, long: 1_000_000, means: "operations" },
    },
  },
  conformance: {
    shows:
      "the conformance kit finds each of its planted faults with the check that is meant for it, and passes correct implementations",
    files: [
      "packages/conformance/test/fault-matrix.test.ts",
      "packages/conformance/test/fault-pairs.test.ts",
      "packages/conformance/test/other-server.test.ts",
      "packages/conformance/test/command-line.test.ts",
      "packages/conformance/test/gateway.test.ts",
      "packages/conformance/test/hostile-targets.test.ts",
      "packages/conformance/test/hostile-report.test.ts",
      "packages/conformance/test/hostile-streams.test.ts",
    ],
    sizes: {
      all: { env: "BURSAR_CONFORMANCE_ALL", short: 0, long: 1, means: "1 runs each fault whole" },
      seed: { env: "BURSAR_CONFORMANCE_SEED", means: "the seed of the pairs of faults" },
    },
  },
  fuzz: {
    shows: "requests generated from the OpenAPI document get responses that match the document",
    files: [`${server}/fuzz/fuzz.test.ts`],
    sizes: {
      requests: { env: "BURSAR_FUZZ_REQUESTS", short: 1000, long: 100_000, means: "requests" },
      seed: { env: "BURSAR_FUZZ_SEED", means: "the first seed" },
    },
  },
  devnet: {
    shows:
      "the development chain is the same, to the hash, after it was stopped or killed, and its contracts are built from their sources",
    files: ["packages/devnet/test/restart.test.ts", "packages/devnet/test/contracts-build.test.ts"],
    sizes: {
      kills: { env: "BURSAR_DEVNET_KILLS", short: 4, long: 200, means: "kills while it mines" },
    },
  },
  signer: {
    shows:
      "a signer that is killed while it signs returns the same bytes again and never gives a nonce to two transactions",
    files: [
      "packages/signer/test/kill.test.ts",
      "packages/signer/test/process.test.ts",
      "packages/signer/test/adopt.test.ts",
      "packages/signer/test/command-line.test.ts",
      "packages/signer/test/operating-page.test.ts",
    ],
    sizes: {
      kills: { env: "BURSAR_SIGNER_KILLS", short: 5, long: 200, means: "kills while it signs" },
    },
  },
  client: {
    shows:
      "payments that a client sends through lost, stalled and damaged responses are made once, a receiver that is killed at any step processes each delivery once, and a follower whose connections are cut misses nothing",
    files: [
      "packages/cli/test/interruptions.test.ts",
      "packages/cli/test/package.test.ts",
      "packages/client/test/faults.test.ts",
      "packages/client/test/package.test.ts",
      "packages/client/test/stream-proof.test.ts",
      `${server}/integration/client/readme.test.ts`,
      `${server}/integration/client/receiver-proof.test.ts`,
    ],
    sizes: {
      events: { env: "BURSAR_CLIENT_EVENTS", short: 1000, long: 20_000, means: "events that are followed" },
      changes: { env: "BURSAR_CLIENT_CHANGES", short: 3000, long: 100_000, means: "changes of a book" },
      cuts: { env: "BURSAR_CLIENT_CUTS", short: 20, long: 200, means: "connections that are cut" },
      deliveries: {
        env: "BURSAR_CLIENT_DELIVERIES",
        short: 150,
        long: 2000,
        means: "deliveries, each sent three times",
      },
      "receiver-kills": {
        env: "BURSAR_CLIENT_RECEIVER_KILLS",
        short: 1,
        long: 10,
        means: "kills of a receiver at each point, with each store",
      },
      payments: { env: "BURSAR_CLIENT_PAYMENTS", short: 250, long: 20_000, means: "payments" },
      seed: { env: "BURSAR_CLIENT_SEED", means: "the seed of the faults" },
    },
  },
  floods: {
    shows: "slow sockets, crowds of streams and long lists do not take the service down",
    files: [`${server}/floods/*.test.ts`],
    sizes: {
      rows: { env: "BURSAR_LIST_ROWS", short: 20_000, long: 300_000, means: "rows of each list" },
    },
  },
  console: {
    shows:
      "in a browser, people log in with passkeys, pages of other origins can use neither sessions nor passkeys, every page can be used by everybody, what others write stays a string, and a live list misses nothing",
    files: [`${server}/console/*.test.ts`],
    sizes: {
      events: { env: "BURSAR_CONSOLE_EVENTS", short: 3000, long: 50_000, means: "payments on a live list" },
      cuts: { env: "BURSAR_CONSOLE_CUTS", short: 5, long: 20, means: "connections of it that are cut" },
    },
  },
  processes: {
    shows: "the command line, the sandbox and the guides work in processes of their own",
    files: [
      `${server}/processes/*.test.ts`,
      `${server}/processes/guides/*.test.ts`,
      `${server}/integration/database/embedded-postgres.test.ts`,
    ],
    sizes: {},
  },
};

/** The files of all proofs, as globs from the root. */
export const proofFiles = Object.values(proofs).flatMap(({ files }) => files);
