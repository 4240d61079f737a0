import { describe, expect, it } from "vitest";
import type { SettlementStore } from "../app/transactions/settlement.js";
import { nodeTimers } from "../runtime/timers.js";
import { createEngine } from "./engine.js";

const nowMs = 1_800_000_000_000;
const minutesAgo = (minutes: number) => nowMs - minutes * 60_000;
const idAt = (ms: number) => {
  const time = ms.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
};

/** Runs an engine on batches of these sizes and ages, until it has claimed once more; says from when on each claim looked. */
async function claimsOn(
  batches: readonly { size: number; acceptedMs: number }[],
): Promise<(number | "all")[]> {
  const claims: (number | "all")[] = [];
  let isDone: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    isDone = resolve;
  });
  const settleAccepted: SettlementStore["settleAccepted"] = async (_limit, acceptedFrom) => {
    const batch = batches[claims.length];
    claims.push(acceptedFrom?.getTime() ?? "all");
    if (batch === undefined) isDone();
    return Array.from({ length: batch?.size ?? 0 }, () => ({
      tenantId: "t",
      id: idAt(batch?.acceptedMs ?? 0),
    }));
  };
  const engine = createEngine({
    settlements: { settleAccepted, settleDue: async () => [] },
    plan: async () => ({ now: new Date(nowMs), windows: [], decide: () => [] }),
    wallets: { activateWallets: async () => 0 },
    onChanged: () => undefined,
    onError: (error) => {
      throw error;
    },
    isUnavailable: () => false,
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
        settlements: {
          settleAccepted: async (_limit, acceptedFrom) => {
            looks.push(acceptedFrom);
            if (looks.length === 1) nowMs -= 3_600_000;
            if (looks.length === 20) void engine.stop().then(resolve);
            return [];
          },
          settleDue: async () => [],
        },
        plan: async () => ({ now: new Date(nowMs), windows: [], decide: () => [] }),
        wallets: { activateWallets: async () => 0 },
        onChanged: () => undefined,
        onError: (error) => {
          throw error;
        },
        isUnavailable: () => false,
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

  it("serves the others where one cannot be settled, and does the rest of its work", async () => {
    const tried: string[] = [];
    const errors: unknown[] = [];
    const rows = ["bad", ...Array.from({ length: 9 }, (_, number) => `good ${number}`)];
    let dueLooks = 0;
    await new Promise<void>((resolve) => {
      const engine = createEngine({
        settlements: {
          settleAccepted: async ({ limit, passOver }) => {
            const batch = rows.slice(passOver, passOver + limit);
            if (batch.includes("bad")) throw new Error("it cannot be settled");
            tried.push(...batch);
            rows.splice(passOver, batch.length);
            if (rows.length === 1) void engine.stop().then(resolve);
            return batch.map(() => ({ tenantId: "t", id: idAt(nowMs) }));
          },
          settleDue: async () => {
            dueLooks += 1;
            return [];
          },
        },
        plan: async () => ({ now: new Date(nowMs), windows: [], decide: () => [] }),
        wallets: { activateWallets: async () => 0 },
        onChanged: () => undefined,
        onError: (error) => errors.push(error),
        isUnavailable: () => false,
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
    expect([tried.length, rows]).toEqual([9, ["bad"]]);
    // 500, 250, 125, 63, 32, 16, 8, 4, 2, and 1; each of these steps has looked for what is due too.
    expect([errors.length, dueLooks >= 10]).toEqual([10, true]);
  });
});
