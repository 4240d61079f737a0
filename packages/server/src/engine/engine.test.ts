import { describe, expect, it } from "vitest";
import type { ClaimedPayment, Settlement, SettlementUnit } from "../app/transactions/settlement.js";
import { nodeTimers } from "../runtime/timers.js";
import { createEngine } from "./engine.js";
import type { SettleBatch } from "./settle-batch.js";

const nowMs = 1_800_000_000_000;
const minutesAgo = (minutes: number) => nowMs - minutes * 60_000;
const idAt = (ms: number) => {
  const time = ms.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
};

/** Settles what the claims of accepted transactions find, whatever that is; the other claims find nothing. */
function settleWith(claimAccepted: SettlementUnit["claimAccepted"]): SettleBatch {
  const nothing = async () => [];
  const unit = { claimAccepted, claimDue: nothing, claimRetries: nothing } as unknown as SettlementUnit;
  return async (claim) =>
    (await claim(unit)).map((transaction) => ({ transaction }) as unknown as Settlement);
}

/** Runs an engine on batches of these sizes and ages, until it has claimed once more; says from when on each claim looked. */
async function claimsOn(
  batches: readonly { size: number; acceptedMs: number }[],
): Promise<(number | "all")[]> {
  const claims: (number | "all")[] = [];
  let isDone: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    isDone = resolve;
  });
  const settleBatch = settleWith(async (_limit, acceptedFrom) => {
    const batch = batches[claims.length];
    claims.push(acceptedFrom?.getTime() ?? "all");
    if (batch === undefined) isDone();
    return Array.from(
      { length: batch?.size ?? 0 },
      () => ({ id: idAt(batch?.acceptedMs ?? 0) }) as ClaimedPayment,
    );
  });
  const engine = createEngine({
    settleBatch,
    wallets: { activateWallets: async () => 0 },
    onChanged: () => undefined,
    onError: (error) => {
      throw error;
    },
    now: () => nowMs,
    monotonicMs: () => 0,
    timers: nodeTimers,
  });
  engine.start();
  await done;
  await engine.stop();
  return claims.slice(0, batches.length + 1);
}

describe("the engine", () => {
  it("looks at everything first, and then at what is recent", async () => {
    expect(await claimsOn([{ size: 3, acceptedMs: minutesAgo(9) }])).toEqual(["all", nowMs - 2000]);
  });

  it("goes on where a full batch ended, however old that is, until a batch is not full", async () => {
    const claims = await claimsOn([
      { size: 500, acceptedMs: minutesAgo(9) },
      { size: 500, acceptedMs: minutesAgo(8) },
      { size: 20, acceptedMs: minutesAgo(7) },
    ]);
    expect(claims).toEqual(["all", minutesAgo(9), minutesAgo(8), nowMs - 2000]);
  });

  it("does not leave out what is recent for the sake of a backlog that is newer", async () => {
    expect(await claimsOn([{ size: 500, acceptedMs: nowMs }])).toEqual(["all", nowMs - 2000]);
  });

  it("looks at everything now and then, also when the time of day was put back", async () => {
    const looks: (Date | undefined)[] = [];
    let nowMs = Date.UTC(2026, 0, 2);
    let monotonicMs = 0;
    await new Promise<void>((resolve) => {
      const engine = createEngine({
        settleBatch: settleWith(async (_limit, acceptedFrom) => {
          looks.push(acceptedFrom);
          if (looks.length === 1) nowMs -= 3_600_000;
          if (looks.length === 20) void engine.stop().then(resolve);
          return [];
        }),
        wallets: { activateWallets: async () => 0 },
        onChanged: () => undefined,
        onError: (error) => {
          throw error;
        },
        now: () => nowMs,
        monotonicMs: () => monotonicMs,
        timers: {
          after: (delayMs, work) => {
            nowMs += delayMs;
            monotonicMs += delayMs;
            queueMicrotask(work);
            return () => undefined;
          },
        },
      });
      engine.start();
    });
    const full = looks.flatMap((from, index) => (from === undefined ? [index] : []));
    expect(full).toEqual([0, 5, 10, 15]);
  });

  it("takes half as many after a batch that was too much, and does the rest of its work", async () => {
    const sizes: number[] = [];
    const errors: unknown[] = [];
    let walletLooks = 0;
    await new Promise<void>((resolve) => {
      const engine = createEngine({
        settleBatch: settleWith(async (limit) => {
          sizes.push(limit);
          if (sizes.length === 6) void engine.stop().then(resolve);
          if (limit > 100) throw new Error("canceling statement due to statement timeout");
          return [];
        }),
        wallets: {
          activateWallets: async () => {
            walletLooks += 1;
            return 0;
          },
        },
        onChanged: () => undefined,
        onError: (error) => errors.push(error),
        now: () => nowMs,
        monotonicMs: () => 0,
        timers: {
          after: (_, work) => {
            queueMicrotask(work);
            return () => undefined;
          },
        },
      });
      engine.start();
    });
    expect(sizes).toEqual([500, 250, 125, 63, 126, 63]);
    expect([errors.length, walletLooks]).toEqual([4, 6]);
  });
});
