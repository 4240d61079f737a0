import { NodeUnavailableError } from "../../../app/chain/chain-node.js";
import type { NetworkLease, SentPayment } from "../../../app/chain/chain-store.js";
import type { RailDriver } from "../../../app/rails/rail.js";
import { bothOf } from "../../../runtime/concurrency/both-of.js";
import { createLeaseKeeper, LeaseLostError } from "../../../runtime/loops/lease.js";
import { createRenewalDuring } from "../../../runtime/loops/renew-during.js";
import type { Timers } from "../../../runtime/loops/timers.js";
import { createWakingLoop, type Rest } from "../../../runtime/loops/waking-loop.js";
import { createConfirmation } from "../confirm/confirmation.js";
import { createHaltedLook } from "../confirm/doubt-halted.js";
import { createBlockPace } from "../node/block-pace.js";
import { createReadyTurns } from "../ready-turns.js";
import { assignPayments } from "./assign-payments.js";
import { type ComparisonDeps, createComparison } from "./comparison/comparison.js";
import { continueChain } from "./continue-chain.js";
import { type FollowedChain, haltNetwork, positionOf, settledOf, tipOf } from "./driver-context.js";
import { createEstimates } from "./estimate-groups.js";
import { createBranchLinks } from "./follow/branch-links.js";
import { followAndSettle } from "./follow/follow-and-settle.js";
import { haltTampered } from "./halt-tampered.js";
import { endsStep } from "./isolate-wallets.js";
import { anchorChain, assertGenesis } from "./leave-blocks.js";
import { createHeadRecords } from "./records/head-records.js";
import { replacePayments } from "./replace-payments.js";
import { forgetSent, isSendable, resendAfterMs, type SentAt, sendPayments } from "./send-payments.js";
import { signPayments } from "./sign-payments.js";
import { createSigningTurn } from "./signing-turn.js";

export interface EvmDriverDeps extends ComparisonDeps {
  /** Names this process among those that could hold the lease. */
  holder: string;
  leaseMs: number;
  /** How often to look for a new head. */
  pollEveryMs: number;
  onError: (error: unknown) => void;
  /** Called when another process turns out to hold the lease. */
  onLost: () => void;
  timers: Pick<Timers, "after">;
}

export interface EvmDriver extends RailDriver {
  /** Drops what is in memory and the lease, because the database may have gone back to an earlier state. */
  reset: () => void;
  /** Whether it holds the lease now, as far as it knows. */
  isRunning: () => boolean;
  /** How many payments no node has estimated for a minute. */
  countUnestimated: () => number;
}

/** How often a process that does not hold the lease tries to acquire it, and one whose network is halted looks whether it still is. */
const acquireEveryMs = 1000;
/** How many sent payments are looked at in one step; the next step goes on behind them. */
const sentPageMax = 500;
/** More than what all nodes and the signer may take for the parts of a step between two renewals of its own. */
const hungAfterMs = 120_000;

/**
 * Drives the payments and deposits of one EVM network. One process at a time holds the network's lease and does so. Each step follows the
 * chain, ends what is final, and then advances payments: assign, sign, store, send. It never talks to a node or to the signer within an SQL
 * transaction, and everything that it writes checks the fence of the lease. What it has in memory is only a copy: after every error it
 * begins again from what was committed.
 */
export function createEvmDriver(deps: EvmDriverDeps): EvmDriver {
  const { network } = deps.network;
  const leases = createLeaseKeeper({
    store: deps.store.leases,
    holder: deps.holder,
    leaseMs: deps.leaseMs,
    renewEveryMs: deps.leaseMs / 4,
    nameOf: (one) => one.network,
    monotonicMs: deps.monotonicMs,
  });
  let chain: FollowedChain | undefined;
  /** The chain of a step in which nodes were not available. */
  let kept: FollowedChain | undefined;
  let [lease, former]: (NetworkLease | undefined)[] = [];
  let resets = 0;
  const turns = createReadyTurns();
  const estimates = createEstimates(deps.monotonicMs, deps.onError);
  /** What final blocks have shown stays true when a step fails, but not when the network is halted. */
  const evidence: FollowedChain["evidence"] = new Map();
  const links = createBranchLinks(deps.monotonicMs);
  const sentAt: SentAt = new Map();
  const signingTurn = createSigningTurn();
  /** The last payment of a look that did not come to the end. A step that fails does not begin again: while each one fails, the first page would hide the others. */
  let lookedUpTo: SentPayment | undefined;
  /** The head and the time when the sent payments were last looked at. */
  let [lookedAtHead, lookedAtMs] = [-1, Number.NEGATIVE_INFINITY];
  const comparison = createComparison(deps);
  const confirmation = createConfirmation(deps);
  const lookAtHalted = createHaltedLook(deps);
  const pace = createBlockPace(deps);
  const headRecords = createHeadRecords({ ...deps, leaseOf: () => lease });
  /** Whether the last look has found payments that are in no block. */
  let isInFlight = true;
  /** Whether something was requested or stored, and whether bytes wait to be sent once more. */
  let [isAsked, isUnsent] = [true, true];

  const renewal = createRenewalDuring({
    renew: async () => lease !== undefined && leases.isRenewalDue() && (await leases.renew([lease])),
    ...{ everyMs: deps.leaseMs / 8, hungAfterMs, timers: deps.timers, monotonicMs: deps.monotonicMs },
  });
  const loop = createWakingLoop({
    step: () => renewal.during(() => headRecords.during(beginAndStep)),
    onError: (error) => {
      kept = error instanceof NodeUnavailableError ? (chain ?? kept) : undefined;
      chain = undefined;
      isAsked = true;
      comparison.reset();
      if (error instanceof LeaseLostError) {
        lease = undefined;
        lookedUpTo = undefined;
        deps.onLost();
      } else deps.onError(error);
    },
    pauseAfterErrorMs: deps.pollEveryMs,
    timers: deps.timers,
  });

  async function beginAndStep(): Promise<Rest> {
    const resetsBefore = resets;
    chain ??= await begin();
    kept = undefined;
    if (resets !== resetsBefore) chain = undefined;
    if (chain === undefined) return { pauseMs: acquireEveryMs };
    await chain.keepLease();
    if (await step(chain)) return undefined;
    return { pauseMs: pace.pauseMs(isInFlight || chain.activeTo > settledOf(chain).number) };
  }

  /** Acquires the lease, forgets what was known under another, and reads how far the chain was followed. Undefined if another process holds it, or the network is halted. */
  async function begin(): Promise<FollowedChain | undefined> {
    // The database may have the lease of before; no other process must wait until it expires.
    if (former !== undefined) await leases.release([former]);
    former = undefined;
    if (lease === undefined) {
      evidence.clear();
      confirmation.reset();
      headRecords.reset();
    }
    if (!(await deps.store.isRegistered(network))) await register();
    lease ??= (await leases.acquire(network))[0];
    if (lease === undefined) return undefined;
    await renew(lease);
    const position = await deps.store.readPosition(network);
    if (position === undefined || position.haltedReason !== null) {
      // Its final blocks may be others when it goes on.
      evidence.clear();
      return undefined;
    }
    const { tail, settledNumber, genesisHash } = position;
    const begun = chainOf(lease, tail, settledNumber);
    await assertGenesis(deps, begun, genesisHash);
    if (tail[0]?.number === settledNumber) return begun;
    evidence.clear();
    await anchorChain(deps, begun, settledNumber);
    return begun;
  }

  function chainOf(held: NetworkLease, tail: FollowedChain["tail"], settledNumber: number): FollowedChain {
    const keepLease = async () => {
      renewal.noteProgress();
      // It is not held if a renewal beside the step has found it lost.
      if (leases.isRenewalDue() || !leases.isHeld(held)) await renew(held);
    };
    const reached = continueChain(held, tail, settledNumber, kept);
    return { lease: held, tail, ...reached, links, evidence, keepLease };
  }

  /** A network begins at its final block: there was no wallet on it before. */
  async function register(): Promise<void> {
    const heads = await deps.node.heads();
    const [genesis] = await deps.node.finalHeaders([0]);
    if ("halt" in heads || genesis === undefined) return;
    const { number, hash, parentHash } = heads.final;
    await deps.store.register(network, genesis.hash, { number, hash, parentHash });
  }

  /** Returns whether there may be more to do at once. */
  async function step(current: FollowedChain): Promise<boolean> {
    const follow = () => followAndSettle(deps, current, () => readHeads(current));
    const { isBehind, failure } = await headRecords.settling(current, follow);
    const isBusy = (await advance(current, isBehind)) || isBehind;
    if (failure !== undefined) throw failure;
    return isBusy;
  }

  async function readHeads(current: FollowedChain) {
    const heads = await deps.node.heads(settledOf(current).number);
    if ("halt" in heads) return await haltNetwork(deps, positionOf(current), "NETWORK_DISPUTED", heads.halt);
    if (heads.misreads !== current.misreads) current.inheritedTo = tipOf(current).number;
    current.misreads = heads.misreads;
    await current.keepLease();
    pace.see((heads.shown ?? heads.latest).number);
    await headRecords.record(current.lease, { ...heads, shown: heads.shown ?? heads.latest });
    return heads;
  }

  /**
   * The parts do not need each other: what is signed is sent while the signer does not answer, and what is ready waits while no node
   * estimates. The first failure is reported when all parts had their turn.
   */
  async function advance(current: FollowedChain, isBehind: boolean): Promise<boolean> {
    const failures: unknown[] = [];
    const attempt = async (part: () => Promise<boolean>) => {
      try {
        return await part();
      } catch (error) {
        if (endsStep(error)) throw error;
        failures.push(error);
        return false;
      }
    };
    await attempt(() => lookAtHalted(current));
    const isConfirming = await attempt(() => confirmation.confirm(current));
    let hasMore = false;
    const assign = () =>
      attempt(async () => {
        const assigned = await assignPayments(deps, current, { turns, estimates, confirmation });
        hasMore = assigned.hasMore;
        return assigned.isBusy;
      });
    const signAndSend = async () => {
      const isSigned = await attempt(() => signPayments(deps, current, signingTurn));
      isAsked ||= isSigned;
      const isReplaced = isLookDue(current) && (await attempt(() => lookAtSent(current, isBehind, attempt)));
      return { isSigned, isReplaced };
    };
    // Under load nodes estimate what comes next while the signer signs what the step before has assigned.
    const [isAssigned, before] = await bothOf(assign(), signAndSend());
    const sent = isAssigned && !hasMore && failures.length === 0 ? await signAndSend() : before;
    const isBusy =
      isBehind || isConfirming || isAssigned || before.isReplaced || sent.isSigned || sent.isReplaced;
    const isCompared = await attempt(() => comparison.compare(current, isBusy));
    if (failures.length > 0) throw failures[0];
    return isBusy || isCompared;
  }

  function isLookDue({ headNumber }: FollowedChain): boolean {
    if (isAsked || isUnsent || lookedUpTo !== undefined || lookedAtHead !== headNumber) return true;
    return deps.monotonicMs() - lookedAtMs >= resendAfterMs;
  }

  /** Decides which payments get another attempt, and sends what is due and not stopped: a page after the other. */
  async function lookAtSent(
    current: FollowedChain,
    isBehind: boolean,
    attempt: (part: () => Promise<boolean>) => Promise<boolean>,
  ): Promise<boolean> {
    if (lookedUpTo === undefined) {
      isAsked = isBehind;
      [isUnsent, isInFlight] = [false, false];
      lookedAtHead = current.headNumber;
      lookedAtMs = deps.monotonicMs();
    }
    const listed = await deps.store.listSent(network, sentPageMax, lookedUpTo);
    isInFlight ||= listed.length > 0;
    if (!leases.isHeld(current.lease)) await renew(current.lease);
    const sent = await haltTampered(deps, current, listed);
    let stopped: ReadonlySet<string> = new Set();
    const isReplaced = await attempt(async () => {
      const replaced = await replacePayments(deps, current, sent, { before: lookedUpTo, isBehind });
      stopped = replaced.stopped;
      return replaced.isBusy;
    });
    const sendable = sent.filter((payment) => !stopped.has(payment.id) && isSendable(payment));
    await sendPayments(deps, current, sendable, { sentAt, monotonicMs: deps.monotonicMs() });
    isUnsent ||= sendable.some(({ hash }) => !sentAt.has(hash));
    lookedUpTo = listed.length < sentPageMax ? undefined : listed.at(-1);
    if (lookedUpTo === undefined) forgetSent(sentAt, current.headNumber);
    return isReplaced || lookedUpTo !== undefined;
  }

  async function renew(held: NetworkLease): Promise<void> {
    if ((await leases.renew([held])).size === 0)
      throw new LeaseLostError(`another process holds the lease of the network ${network}`);
  }

  return {
    start: loop.start,
    wake: () => {
      isAsked = true;
      loop.wake();
    },
    isRunning: () => chain !== undefined,
    countUnestimated: () => (lease === undefined ? 0 : estimates.countUnestimated()),
    reset: () => {
      resets += 1;
      chain = undefined;
      former = lease ?? former;
      lease = undefined;
      loop.wake();
    },
    stop: async () => {
      await loop.stop();
      if (lease !== undefined) await leases.release([lease]).catch(deps.onError);
    },
  };
}
