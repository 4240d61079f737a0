import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { root } from "./files.mjs";

const server = "packages/server/test";

/**
 * The test files that take longest, in the order in which they start in their project. Those that mostly wait stand between others, which
 * use the time.
 */
export const longestFiles = [
  "packages/conformance/test/fault-matrix.test.ts",
  `${server}/integration/database/plans.test.ts`,
  `${server}/faults/failover/failover.test.ts`,
  `${server}/console/pages.test.ts`,
  "packages/conformance/test/other-server.test.ts",
  `${server}/processes/guides/chain-guide.test.ts`,
  `${server}/faults/chain/chain-proof.test.ts`,
  `${server}/faults/kill.test.ts`,
  `${server}/simulation/chain/chain-simulation.test.ts`,
  "packages/conformance/test/fault-pairs.test.ts",
  `${server}/integration/tampering/ended-orders.test.ts`,
  `${server}/console/hostile-strings.test.ts`,
  `${server}/integration/tampering/approvals.test.ts`,
  `${server}/simulation/simulation.test.ts`,
  `${server}/console/roles.test.ts`,
  `${server}/processes/operator-commands.test.ts`,
  `${server}/processes/own-database.test.ts`,
  `${server}/faults/rewound/rewound-database.test.ts`,
  `${server}/console/first-day.test.ts`,
  `${server}/simulation/chain/planted-bugs.test.ts`,
  `${server}/faults/webhook-storm.test.ts`,
  `${server}/integration/tampering/held-locks.test.ts`,
  `${server}/faults/soak.test.ts`,
  `${server}/integration/tampering/transactions.test.ts`,
  `${server}/processes/documents.test.ts`,
  `${server}/integration/database/queue-plans.test.ts`,
  `${server}/processes/sandbox.test.ts`,
  `${server}/integration/transactions/exactly-once.test.ts`,
  `${server}/processes/client-commands.test.ts`,
  `${server}/integration/stream/stream-markets.test.ts`,
  `${server}/processes/repeatable-commands.test.ts`,
  `${server}/integration/access/clients/reseal.test.ts`,
  `${server}/processes/cli.test.ts`,
  `${server}/integration/chains/halts.test.ts`,
  `${server}/faults/stream/stream.test.ts`,
  `${server}/integration/access/clients/clients.test.ts`,
  `${server}/fuzz/fuzz.test.ts`,
  `${server}/integration/chains/driver.test.ts`,
  `${server}/floods/long-lists.test.ts`,
  `${server}/integration/chains/driver-deposits.test.ts`,
  `${server}/processes/conformance.test.ts`,
  `${server}/integration/webhooks/delivery-backlogs.test.ts`,
  `${server}/processes/guides/guides-in-order.test.ts`,
  `${server}/faults/market-kill.test.ts`,
  "packages/devnet/test/restart.test.ts",
];

/**
 * Starts the files that take longest first, so that none of them runs alone at the end. Without the times of an earlier run, Vitest
 * starts the files with the most bytes first, and some of the longest proofs are short files.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = longestFiles.indexOf(relative(root, moduleId));
      return rank < 0 ? longestFiles.length : rank;
    };
    return (await super.sort(files)).sort((left, right) => rankOf(left) - rankOf(right));
  }
}
