import { expect, it } from "vitest";
import type { Timers } from "../../runtime/loops/timers.js";
import { createChangeHub } from "./change-hub.js";
import { createTransactionReader } from "./read-transaction.js";
import type { Transaction } from "./transaction.js";

/** Time stands still: nobody is woken by it. */
const stopped: Pick<Timers, "after"> = { after: () => () => undefined };

it("a client that waits for a change is answered when the service stops, and none waits after that", async () => {
  const changes = createChangeHub(stopped);
  const transaction = { steps: [{ version: 1 }] } as unknown as Transaction;
  let reads = 0;
  const read = createTransactionReader({
    store: {
      readTransaction: async () => {
        reads += 1;
        return transaction;
      },
    },
    changes,
    monotonicMs: () => 0,
  });
  const waitFor = { versionOtherThan: 1, timeoutMs: 30_000 };
  const waiting = [
    read("tenant", "one", waitFor),
    read("tenant", "one", waitFor),
    read("tenant", "two", waitFor),
  ];
  await new Promise((resolve) => setImmediate(resolve));
  expect(reads).toBe(3);
  changes.close();
  expect(await Promise.all(waiting)).toEqual([transaction, transaction, transaction]);
  expect(await read("tenant", "one", waitFor)).toBe(transaction);
  expect(reads).toBe(7);
});

it("a change that happens while the transaction is read is seen at once", async () => {
  const changes = createChangeHub(stopped);
  const versions = [1, 2].map((version) => ({ steps: [{ version }] }) as unknown as Transaction);
  const read = createTransactionReader({
    store: {
      readTransaction: async () => {
        const seen = versions.shift();
        // Committed and published after the row was read, and before the reader knows it.
        if (versions.length === 1) changes.publish(["one"]);
        return seen;
      },
    },
    changes,
    monotonicMs: () => 0,
  });
  const found = await read("tenant", "one", { versionOtherThan: 1, timeoutMs: 30_000 });
  expect(found).toEqual({ steps: [{ version: 2 }] });
});
