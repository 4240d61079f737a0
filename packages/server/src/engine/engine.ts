import type { Timers } from "../app/timers.js";
import type { Rail } from "../app/transactions/rail.js";
import type { SettlementStore } from "../app/transactions/settlement.js";
import type { WalletActivation } from "../app/wallets/wallet.js";
import { decideBatch } from "./decide-batch.js";

/** Drives what was accepted forward, batch by batch, until there is nothing left to do. Several may run beside each other. */
export interface Engine {
  start: () => void;
  /** Says that there is something to do, so that nobody waits for the next look. */
  wake: () => void;
  stop: () => Promise<void>;
}

export interface EngineDeps {
  settlements: SettlementStore;
  wallets: WalletActivation;
  rails: ReadonlyMap<string, Rail>;
  /** Called after each commit, with what has changed. */
  onChanged: (ids: readonly string[]) => void;
  onError: (error: unknown) => void;
  nowMs: () => number;
  timers: Pick<Timers, "after">;
}

const batchMax = 500;
/** A hint of another process can be lost; this is how long its work waits then. */
const lookEveryMs = 200;
const pauseAfterErrorMs = 500;
/**
 * A row in a batch of 16 costs three times what it costs in a batch of 500, for the service and for PostgreSQL. So the engine lets
 * work gather after a batch that was not full: for a moment while little is going on, for longer under load, where the rows that
 * it saves are what the load needs.
 */
const breathMs = 2;
const deepBreathMs = 25;
const busyFrom = 16;
const stepsPerWalletLook = 20;
const recentMs = 2000;
const fullLookEveryMs = 1000;

export function createEngine(deps: EngineDeps): Engine {
  let running: Promise<void> | undefined;
  let stopping = false;
  let isWoken = false;
  let steps = 0;
  let lastFullLookMs = 0;
  let endPause: (() => void) | undefined;

  async function run(): Promise<void> {
    while (!stopping) {
      isWoken = false;
      try {
        const done = await step();
        if (done === 0 && !isWoken) await pause(lookEveryMs);
        else if (done < batchMax) await breathe(done < busyFrom ? breathMs : deepBreathMs);
      } catch (error) {
        deps.onError(error);
        await pause(pauseAfterErrorMs);
      }
    }
  }

  /**
   * From when on to claim. What was settled a moment ago leaves dead entries at the start of the index until they are cleaned
   * up, and every claim would read past all of them; so only what is recent is looked at, and all of it once a second, for what
   * was committed late.
   */
  function claimFrom(now: Date): Date | undefined {
    if (now.getTime() - lastFullLookMs >= fullLookEveryMs) {
      lastFullLookMs = now.getTime();
      return undefined;
    }
    return new Date(now.getTime() - recentMs);
  }

  async function step(): Promise<number> {
    const now = new Date(deps.nowMs());
    const settled = await deps.settlements.settle(batchMax, claimFrom(now), (claimed, accounts) =>
      // The time of the decision, not of the wish to decide: between the two may be a wait for connections and locks.
      decideBatch(claimed, accounts, deps.rails, new Date(deps.nowMs())),
    );
    if (settled.length > 0) deps.onChanged(settled.map(({ id }) => id));
    steps += 1;
    // Wallets are rare. Looking for them in every step would cost a busy engine a round trip each time.
    const looksForWallets = settled.length === 0 || steps % stepsPerWalletLook === 0;
    const activated = looksForWallets ? await deps.wallets.activateWallets(batchMax, now) : 0;
    return settled.length + activated;
  }

  /** Not even a wake-up cuts it short. */
  function breathe(ms: number): Promise<void> {
    return new Promise((resolve) => void deps.timers.after(ms, resolve));
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = deps.timers.after(ms, resolve);
      endPause = () => {
        callOff();
        resolve();
      };
    });
  }

  function wake(): void {
    isWoken = true;
    endPause?.();
  }

  return {
    start: () => {
      running ??= run();
    },
    wake,
    stop: async () => {
      stopping = true;
      wake();
      await running;
    },
  };
}
