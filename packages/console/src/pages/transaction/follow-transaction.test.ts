import { BursarError, type FollowedEvent, type Transaction } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { followTransaction, type TransactionSource } from "./follow-transaction";

const transaction = (state: Transaction["state"], id = "tx_1") => ({ id, state }) as Transaction;

const updated = (of: Transaction) =>
  ({
    type: "event",
    sequence: 8,
    epoch: "1",
    event: { event: "transaction.updated", data: { transaction: of } },
  }) as FollowedEvent;

const gap: FollowedEvent = { type: "gap", reason: "expired", from: 8, to: 9, epoch: "1" };

/** Plays reads and streams one after the other, and records the calls. */
async function follow(
  reads: Transaction[],
  streams: FollowedEvent[][],
  fail?: Error,
): Promise<{ calls: string[]; shown: string[] }> {
  const calls: string[] = [];
  const shown: string[] = [];
  const source: TransactionSource = {
    position: async () => {
      calls.push("position");
      if (fail !== undefined) throw fail;
      return { sequence: 7, epoch: "1" };
    },
    read: async () => {
      calls.push("read");
      return reads.shift() ?? transaction("failed");
    },
    follow: async function* (since, epoch) {
      calls.push(`follow ${since} ${epoch}`);
      yield* streams.shift() ?? [];
    },
  };
  await followTransaction("tx_1", source, ({ state }) => shown.push(state), new AbortController().signal);
  return { calls, shown };
}

describe("a transaction that is followed", () => {
  it("is read after the end of the log was noted, and followed from there", async () => {
    const other = updated(transaction("failed", "tx_2"));
    const { calls, shown } = await follow(
      [transaction("accepted")],
      [[other, updated(transaction("processing")), updated(transaction("completed"))]],
    );
    expect(calls).toEqual(["position", "read", "follow 7 1"]);
    expect(shown).toEqual(["accepted", "processing", "completed"]);
  });

  it("is not followed if it became final before", async () => {
    const { calls, shown } = await follow([transaction("completed")], []);
    expect(calls).toEqual(["position", "read"]);
    expect(shown).toEqual(["completed"]);
  });

  it("is read again after a gap", async () => {
    const late = updated(transaction("failed"));
    const { shown } = await follow([transaction("accepted"), transaction("completed")], [[gap, late]]);
    expect(shown).toEqual(["accepted", "completed"]);
  });

  it("is left alone if the person may not follow", async () => {
    const refused = new BursarError({
      code: "FORBIDDEN",
      message: "no",
      status: 403,
      outcome: "refused",
      attempts: 1,
    });
    expect((await follow([], [], refused)).calls).toEqual(["position"]);
  });
});
