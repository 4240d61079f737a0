import { timeOfUuidV7 } from "@bursar/domain";
import type {
  Settlement,
  SettlementStore,
  TenantChoice,
  WaitingWork,
} from "../app/transactions/settlement.js";
import type { WalletActivation } from "../app/wallets/wallet.js";
import { createBatchSize } from "../runtime/concurrency/isolate-failing-rows.js";
import { shortLockTimeoutMs } from "../runtime/concurrency/leave-out-locked.js";
import type { Timers } from "../runtime/loops/timers.js";
import { createWakingLoop, type Rest, type WakingLoop } from "../runtime/loops/waking-loop.js";
import { createLooks } from "./looks.js";
import type { ClaimBatch, SettleBatch } from "./settle-batch.js";
import { createStalledTenants } from "./stalled-tenants.js";
import { createTenantRotation, type TenantTurn } from "./tenant-rotation.js";

/** Drives what was accepted forward, batch by batch, until there is nothing left to do. Several may run beside each other. */
export interface Engine extends Pick<WakingLoop, "start" | "stop"> {
  /** These tenants have something to be settled; without any, or with `any`, it looks at all of them and at what is rare. */
  wake: (tenantIds: readonly string[] | "any") => void;
}

export interface EngineDeps {
  settleBatch: SettleBatch;
  findWork: SettlementStore["findWork"];
  wallets: WalletActivation;
  /** Called after each commit, with what has changed. */
  onChanged: (settled: readonly Settlement[]) => void;
  onError: (error: unknown) => void;
  /** Called when something begins to hold a lock on rows of a tenant, which is not settled meanwhile. */
  onStalled: (tenantId: string) => void;
  /** Whether other processes can wake this one at the moment. */
  isNotified: () => boolean;
  now: () => number;
  /** A clock that nobody can set: the next look at everything comes also when the time of day was put back. */
  monotonicMs: () => number;
  timers: Pick<Timers, "after">;
}

const batchMax = 500;
/** Approvers are slower, and what expires costs more than what is settled. */
const rareMax = 100;
/** How often an engine that is idle looks whether there is something to do: less often, unless nothing would wake it. */
const idleLookEveryMs = 2000;
const unnotifiedLookEveryMs = 200;
const pauseAfterErrorMs = 500;
/** Far longer than another process holds the rows that a batch needs. */
const lockTimeoutMs = 1000;
/** Of the tenants that are served alone, as many in a step; fewer if some wait for a lock, each for a moment. */
const aloneMax = 32;
const aloneWaitsMax = 4;
/**
 * A row in a batch of 16 costs three times what it costs in a batch of 500, for the service and for PostgreSQL. So the engine lets
 * work gather after a batch that was not full: for a moment while little is going on, for longer under load, which needs the rows that
 * this saves.
 */
const lingerMs = 2;
const busyLingerMs = 25;
const busyFrom = 16;
const recentMs = 2000;

export function createEngine(deps: EngineDeps): Engine {
  const acceptedSize = createBatchSize(batchMax);
  const rareSize = createBatchSize(rareMax);
  const rotation = createTenantRotation();
  const stalled = createStalledTenants(deps.monotonicMs);
  /** Whether a tenant has used up its share of the last batch. */
  let hasBacklog = false;
  /** How often a lock on the rows of a tenant was waited for in vain. */
  let stalls = 0;
  /** The last error: the other parts of a step are done before it is thrown. */
  let failure: unknown;
  /** What the last look has found. */
  let found: WaitingWork | undefined;
  const { onError, timers, isNotified } = deps;
  const loop = createWakingLoop({ step: stepAndRest, onError, pauseAfterErrorMs, timers });
  // Beside the steps: the tenants that were woken must not wait for a look that takes long.
  const looks = createLooks({
    ...deps,
    onFound: (work) => {
      for (const { tenantId, firstId } of work.tenants) rotation.add([tenantId], timeOfUuidV7(firstId));
      found = work;
    },
    onEnded: () => loop.wake(),
  });

  async function stepAndRest(): Promise<Rest> {
    const done = await step();
    const idleMs = isNotified() ? idleLookEveryMs : unnotifiedLookEveryMs;
    if (done === 0) return { pauseMs: Math.min(idleMs, looks.wantedInMs(), stalled.dueInMs()) };
    return hasBacklog ? undefined : { lingerMs: done < busyFrom ? lingerMs : busyLingerMs };
  }

  async function step(): Promise<number> {
    const now = new Date(deps.now());
    looks.beginIfDue(now);
    const rareWork = found;
    found = undefined;
    const settled = await settleTurns(now);
    const rare = rareWork === undefined ? 0 : await doRare(rareWork, now);
    const alone = await serveStalled(rareWork, now);
    if (settled === undefined || rare === undefined || alone === undefined) throw failure;
    return settled + rare + alone;
  }

  /** Serves the tenants whose turn it is, all with the same share of a batch. */
  async function settleTurns(now: Date): Promise<number | undefined> {
    const limit = acceptedSize.current();
    const turns = stalled.keepTurns(rotation.take(limit));
    hasBacklog = false;
    if (turns.length === 0) return 0;
    const share = Math.floor(limit / turns.length);
    const settled = await settle(acceptedSize, claimTurns(turns, share, now));
    if (settled === undefined) rotation.returnTurns(turns);
    else continueBacklogs(settled, stalled.keepTurns(turns), share);
    return settled?.length;
  }

  function claimTurns(turns: readonly TenantTurn[], share: number, now: Date): ClaimBatch {
    const recentFromMs = now.getTime() - recentMs;
    // Once a step: a unit of work that begins again, because accounts were missing, looks for the same rows.
    const claims = turns.map(({ tenantId, fromMs }) => ({
      tenantId,
      acceptedFrom: new Date(Math.min(fromMs, recentFromMs)),
    }));
    return (unit) => unit.claimAccepted(claims, share);
  }

  /** A tenant that has used up its share has more behind it, however old. */
  function continueBacklogs(
    settled: readonly Settlement[],
    turns: readonly TenantTurn[],
    share: number,
  ): void {
    const counts = new Map<string, number>();
    const lastIds = new Map<string, string>();
    for (const { transaction } of settled) {
      counts.set(transaction.tenantId, (counts.get(transaction.tenantId) ?? 0) + 1);
      lastIds.set(transaction.tenantId, transaction.id);
    }
    for (const { tenantId } of turns) {
      const lastId = lastIds.get(tenantId);
      if (lastId === undefined || counts.get(tenantId) !== share) continue;
      hasBacklog = true;
      rotation.add([tenantId], timeOfUuidV7(lastId));
    }
  }

  /** Approvals, retries and new wallets. How much was done; undefined if a part of it has failed. */
  async function doRare(work: WaitingWork, now: Date): Promise<number | undefined> {
    const settled = await settleRare(work, now, { except: stalled.list() }, lockTimeoutMs);
    const activated = await deps.wallets.activateWallets(batchMax, now);
    if (settled === undefined) return undefined;
    const done = settled + activated;
    // There may be more of it.
    if (done > 0) looks.want();
    return done;
  }

  async function settleRare(
    { hasDue, hasRetries }: WaitingWork,
    now: Date,
    tenants: TenantChoice,
    timeoutMs: number,
  ): Promise<number | undefined> {
    const size = rareSize;
    const due = hasDue
      ? await settle(size, (unit) => unit.claimDue(size.current(), now, tenants), timeoutMs)
      : [];
    const retried = hasRetries
      ? await settle(size, (unit) => unit.claimRetries(size.current(), now, tenants), timeoutMs)
      : [];
    return due === undefined || retried === undefined ? undefined : due.length + retried.length;
  }

  /** Some of the tenants in whose rows something was locked, one after the other. Undefined if a part of it has failed. */
  async function serveStalled(rareWork: WaitingWork | undefined, now: Date): Promise<number | undefined> {
    let done: number | undefined = 0;
    const stallsMax = stalls + aloneWaitsMax;
    const also = rareWork === undefined ? undefined : "without turn";
    // Each at most once.
    for (let left = Math.min(aloneMax, stalled.list().length); left > 0 && stalls < stallsMax; left--) {
      const due = stalled.takeDue(also);
      if (due === undefined) break;
      const { tenantId, turn } = due;
      const before = stalls;
      const limit = acceptedSize.current();
      const settled =
        turn === undefined
          ? []
          : await settle(acceptedSize, claimTurns([turn], limit, now), shortLockTimeoutMs);
      if (turn !== undefined && settled !== undefined) continueBacklogs(settled, [turn], limit);
      const rare =
        rareWork === undefined || stalls > before
          ? 0
          : await settleRare(rareWork, now, { only: tenantId }, shortLockTimeoutMs);
      if (stalls === before) stalled.served(tenantId);
      // What was not reached has its turn again, after the pause.
      else if (turn !== undefined) stalled.keepTurns([turn]);
      if (settled === undefined || rare === undefined) done = undefined;
      else if (done !== undefined) done += settled.length + rare;
    }
    return done;
  }

  function onStalled(tenantId: string): void {
    stalls += 1;
    if (!stalled.list().includes(tenantId)) deps.onStalled(tenantId);
    stalled.add(tenantId);
  }

  async function settle(
    size: ReturnType<typeof createBatchSize>,
    claim: ClaimBatch,
    timeoutMs = lockTimeoutMs,
  ): Promise<Settlement[] | undefined> {
    try {
      const settled = await deps.settleBatch(claim, {
        ...{ lockTimeoutMs: timeoutMs, onStalled, onUnknown: stalled.suspect },
      });
      size.grow();
      const changed = settled.filter(({ decision }) => decision !== undefined);
      if (changed.length > 0) deps.onChanged(changed);
      return settled;
    } catch (error) {
      // What is too much for a statement in one batch may not be in two.
      size.shrink();
      failure = error;
      return undefined;
    }
  }

  return {
    start: loop.start,
    stop: async () => {
      await loop.stop();
      await looks.ended();
    },
    wake: (tenantIds) => {
      if (tenantIds === "any" || tenantIds.length === 0) looks.want();
      else rotation.add(tenantIds, deps.now());
      loop.wake();
    },
  };
}
