import { describe, expect, it } from "vitest";
import type { ClaimedPayment, Settlement, SettlementUnit } from "../app/transactions/settlement.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import { createEngine } from "./engine.js";
import type { SettleBatch } from "./settle-batch.js";

const startMs = 1_800_000_000_000;
const minutesAgo = (minutes: number) => startMs - minutes * 60_000;
const idAt = (ms: number) => {
  const time = ms.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
};

const one = "00000000-0000-7000-8000-000000000001";
const other = "00000000-0000-7000-8000-000000000002";

/** Settles what the claims of accepted transactions find, whatever that is; the other claims find nothing. */
function settleWith(claimAccepted: SettlementUnit["claimAccepted"]): SettleBatch {
  const nothing = async () => [];
  const unit = { claimAccepted, claimDue: nothing, claimRetries: nothing } as unknown as SettlementUnit;
  return async (claim) =>
    (await claim(unit)).map((transaction) => ({ transaction }) as unknown as Settlement);
}

const found = (tenantIds: string[], firstMs = startMs) => ({
  tenants: tenantIds.map((tenantId) => ({ tenantId, firstId: idAt(firstMs) })),
  hasDue: false,
  hasRetries: false,
});

/** A clock that jumps over every pause. */
function createClock() {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    timers: {
      after: (delayMs: number, work: () => void) => {
        nowMs += delayMs;
        setImmediate(work);
        return () => undefined;
      },
    },
  };
}

type Claim = Record<string, number>;

/** Runs an engine with tenants that have this many transactions of an age, until it has claimed so often; says what each claim asked for. */
async function claimsOn(
  backlogs: Readonly<Record<string, { count: number; acceptedMs: number }>>,
  claimsMax: number,
  onClaim: (claim: number, wake: (tenantIds: string[]) => void) => void = () => undefined,
): Promise<{ claims: Claim[]; shares: number[] }> {
  const left = new Map(Object.entries(backlogs));
  const claims: Claim[] = [];
  const shares: number[] = [];
  let isDone: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    isDone = resolve;
  });
  const { now } = createClock();
  const engine = createEngine({
    settleBatch: settleWith(async (tenants, share) => {
      claims.push(
        Object.fromEntries(tenants.map(({ tenantId, acceptedFrom }) => [tenantId, acceptedFrom.getTime()])),
      );
      shares.push(share);
      onClaim(claims.length, engine.wake);
      if (claims.length === claimsMax) isDone();
      return tenants.flatMap(({ tenantId }) => {
        const backlog = left.get(tenantId) ?? { count: 0, acceptedMs: 0 };
        const length = Math.min(backlog.count, share);
        left.set(tenantId, { ...backlog, count: backlog.count - length });
        return Array.from({ length }, () => ({ tenantId, id: idAt(backlog.acceptedMs) }) as ClaimedPayment);
      });
    }),
    findWork: async () => ({
      ...found([]),
      tenants: [...left]
        .filter(([, { count }]) => count > 0)
        .map(([tenantId, { acceptedMs }]) => ({ tenantId, firstId: idAt(acceptedMs) })),
    }),
    wallets: { activateWallets: async () => 0 },
    onChanged: () => undefined,
    onStalled: () => undefined,
    onError: (error) => {
      throw error;
    },
    isNotified: () => true,
    now,
    monotonicMs: () => 0,
    timers: nodeTimers,
  });
  engine.start();
  await done;
  await engine.stop();
  return { claims, shares };
}

describe("the engine", () => {
  it("begins with the first that a look saw, and goes on where a tenant's share of a batch ended, however old", async () => {
    const { claims } = await claimsOn({ [one]: { count: 1200, acceptedMs: minutesAgo(9) } }, 3);
    expect(claims).toEqual([{ [one]: minutesAgo(9) }, { [one]: minutesAgo(9) }, { [one]: minutesAgo(9) }]);
  });

  it("does not leave out what is recent for the sake of a backlog that is newer", async () => {
    const { claims } = await claimsOn({ [one]: { count: 1200, acceptedMs: startMs } }, 2);
    expect(claims).toEqual([{ [one]: startMs - 2000 }, { [one]: startMs - 2000 }]);
  });

  it("gives a tenant that is woken the same share of the next batch as one with a backlog", async () => {
    const backlogs = { [one]: { count: 10_000, acceptedMs: minutesAgo(9) } };
    const { claims, shares } = await claimsOn(backlogs, 3, (claim, wake) => {
      if (claim === 1) wake([other]);
    });
    expect(claims).toEqual([
      { [one]: minutesAgo(9) },
      { [other]: startMs - 2000, [one]: minutesAgo(9) },
      { [one]: minutesAgo(9) },
    ]);
    expect(shares).toEqual([500, 250, 500]);
  });

  it.each([
    { isNotified: true, everyMs: 2000 },
    { isNotified: false, everyMs: 200 },
  ])(
    "looks at everything every $everyMs ms while idle, if notifications arrive is $isNotified, also when the time of day was put back",
    async ({ isNotified, everyMs }) => {
      const looks: number[] = [];
      const clock = createClock();
      let offsetMs = 0;
      await new Promise<void>((resolve) => {
        const engine = createEngine({
          settleBatch: settleWith(async () => []),
          findWork: async () => {
            looks.push(clock.monotonicMs());
            if (looks.length === 1) offsetMs = -3_600_000;
            if (looks.length === 5) void engine.stop().then(resolve);
            return found([]);
          },
          wallets: { activateWallets: async () => 0 },
          onChanged: () => undefined,
          onStalled: () => undefined,
          onError: (error) => {
            throw error;
          },
          isNotified: () => isNotified,
          now: () => clock.now() + offsetMs,
          monotonicMs: clock.monotonicMs,
          timers: clock.timers,
        });
        engine.start();
      });
      expect(looks.map((look) => look - startMs)).toEqual([0, 1, 2, 3, 4].map((round) => round * everyMs));
    },
  );

  it.each(["never ends", "times out"])(
    "settles what it is woken for while a look at everything %s, as with an old snapshot",
    async (fate) => {
      const claimed: string[] = [];
      const errors: unknown[] = [];
      let looks = 0;
      let endLook: () => void = () => undefined;
      await new Promise<void>((resolve) => {
        const engine = createEngine({
          findWork: async () => {
            looks += 1;
            if (fate === "times out") throw new Error("canceling statement due to statement timeout");
            await new Promise<void>((end) => {
              endLook = end;
            });
            return found([]);
          },
          isNotified: () => true,
          settleBatch: settleWith(async (tenants) => {
            claimed.push(...tenants.map(({ tenantId }) => tenantId));
            if (claimed.length < 3) engine.wake([claimed.length === 1 ? other : one]);
            else {
              endLook();
              void engine.stop().then(resolve);
            }
            return [];
          }),
          wallets: { activateWallets: async () => 0 },
          onChanged: () => undefined,
          onStalled: () => undefined,
          onError: (error) => errors.push(error),
          ...createClock(),
        });
        engine.start();
        engine.wake([one]);
      });
      expect(claimed).toEqual([one, other, one]);
      expect(errors).toHaveLength(fate === "times out" ? looks : 0);
    },
  );

  it("takes half as many after a batch that was too much, and does the rest of its work", async () => {
    const sizes: number[] = [];
    const errors: unknown[] = [];
    let walletLooks = 0;
    await new Promise<void>((resolve) => {
      const engine = createEngine({
        findWork: async () => found([one]),
        isNotified: () => true,
        settleBatch: settleWith(async (_, share) => {
          sizes.push(share);
          if (sizes.length === 6) void engine.stop().then(resolve);
          if (share > 100) throw new Error("canceling statement due to statement timeout");
          return [];
        }),
        wallets: {
          activateWallets: async () => {
            walletLooks += 1;
            return 0;
          },
        },
        onChanged: () => undefined,
        onStalled: () => undefined,
        onError: (error) => errors.push(error),
        ...createClock(),
      });
      engine.start();
    });
    expect(sizes).toEqual([500, 250, 125, 63, 126, 63]);
    expect([errors.length, walletLooks]).toEqual([4, 3]);
  });
});
