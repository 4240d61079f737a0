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

const refusal = (status: number, code: BursarError["code"]) =>
  new BursarError({ code, message: "no", status, outcome: "refused", attempts: 1 });

/** Plays reads and streams one after the other, and records the calls. The first calls fail with these errors. */
async function follow(
  reads: Transaction[],
  streams: FollowedEvent[][],
  failures: Error[] = [],
): Promise<{ calls: string[]; shown: string[] }> {
  const calls: string[] = [];
  const shown: string[] = [];
  const source: TransactionSource = {
    position: async () => {
      calls.push("position");
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
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

  it("is followed again when its person has logged in again", async () => {
    const { calls, shown } = await follow(
      [transaction("awaiting_approval")],
      [[updated(transaction("completed"))]],
      [refusal(401, "UNAUTHENTICATED")],
    );
    expect(calls).toEqual(["position", "position", "read", "follow 7 1"]);
    expect(shown).toEqual(["awaiting_approval", "completed"]);
  });

  it("is left alone if the person may not follow", async () => {
    expect((await follow([], [], [refusal(403, "INSUFFICIENT_SCOPE")])).calls).toEqual(["position"]);
  });
});
