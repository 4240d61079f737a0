import {
  debtMaxOf,
  fullBucket,
  msUntilTokens,
  type Quota,
  takeTokens,
  toRetryAfterSeconds,
} from "@bursar/domain";

/**
 * The quota of one client or tenant for one class of requests, in this process: a slice of tokens that was reserved from the shared bucket
 * ahead of need. Every token comes from the shared bucket. The tokens that a process holds unused are at most a tenth of the burst.
 *
 * A request is admitted if a token is left, and then takes as many as it costs. If that is more than there are, the rest is a debt: it is
 * taken from the shared bucket at once, and nothing is admitted until the bucket has gained it back. So a request that costs more than the
 * burst is possible, and its cost may turn out only after its body was read.
 */
export interface Allowance {
  /** The value of `RateLimit-Policy`. */
  policy: () => string;
  /** The value of `RateLimit`. */
  state: (nowMs: number) => string;
  /** The number of tokens left, as `state` reports it. */
  remaining: (nowMs: number) => number;
  /**
   * Takes what a request costs. 0 admits the request; any other number is the seconds to wait. The result is a promise only if the slice is
   * used up and the next one is being reserved.
   */
  take: (nowMs: number, cost?: number) => number | Promise<number>;
  /** Takes a cost that is known only after the request was admitted. */
  charge: (nowMs: number, cost: number) => void;
  /** The seconds until the bucket is out of debt; 0 if it is not in debt. */
  debtSeconds: (nowMs: number) => number;
  /** Returns what a request has taken that is refused for another reason. */
  giveBack: (cost: number) => void;
  /** The number of tokens to reserve from the shared bucket, and the debt to be taken from it in any case. */
  ask: () => { wanted: number; owed: number };
  receive: (granted: number, remaining: number, nowMs: number) => void;
  /** Continues with this process's own copy of the bucket, because the shared one is unavailable. */
  continueLocally: (nowMs: number) => void;
  /** Gives up the tokens of an allowance that has been idle since then, and returns their number. */
  surrender: (idleSinceMs: number) => number;
  /** Whether it has been idle since then and holds no tokens. */
  isIdle: (idleSinceMs: number) => boolean;
  quota: () => Quota;
  retune: (quota: Quota) => void;
}

/** A slice grows if it is used up within this time, and shrinks if it lasts several times as long. */
const sliceLifeMs = 1000;
const sliceFirst = 10;
/** An empty shared bucket is queried ten times a second, and more often only if a slice of it fills sooner. */
const emptyPauseMaxMs = 100;

export function createAllowance(name: string, first: Quota, requestTokens: () => void): Allowance {
  let quota = first;
  let policy = policyText(name, quota);
  let slice = Math.min(sliceFirst, sliceMaxOf(quota));
  /** Negative while a debt has not been taken from the shared bucket. */
  let left = 0;
  /** The part of the debt that is being taken from it. */
  let owing = 0;
  let usedAtMs = 0;
  let reservedAtMs = Number.NEGATIVE_INFINITY;
  let isReserving = false;
  let emptyUntilMs = 0;
  let shared = fullBucket(quota, 0);
  const waiting: { cost: number; resolve: (waitSeconds: number) => void }[] = [];
  let shown = { left: -1, seconds: -1, text: "" };

  function take(nowMs: number, cost = 1): number | Promise<number> {
    usedAtMs = nowMs;
    if (left > 0) {
      left -= cost;
      const isLow = left < 0 || (left <= slice / 2 && nowMs >= emptyUntilMs);
      if (isLow && !isReserving) reserve(nowMs);
      return 0;
    }
    if (!isReserving) {
      if (nowMs < emptyUntilMs) return toRetryAfterSeconds(emptyUntilMs - nowMs);
      reserve(nowMs);
    }
    return new Promise((resolve) => waiting.push({ cost, resolve }));
  }

  function charge(nowMs: number, cost: number): void {
    usedAtMs = nowMs;
    left -= cost;
    if (left < 0 && !isReserving) reserve(nowMs);
  }

  function reserve(nowMs: number): void {
    const sinceMs = nowMs - reservedAtMs;
    if (sinceMs < sliceLifeMs) slice = Math.min(slice * 2, sliceMaxOf(quota));
    else if (sinceMs > 4 * sliceLifeMs) slice = Math.max(1, Math.ceil(slice / 2));
    reservedAtMs = nowMs;
    isReserving = true;
    requestTokens();
  }

  function ask(): { wanted: number; owed: number } {
    owing = Math.max(0, -left);
    const waitingCost = waiting.reduce((sum, { cost }) => sum + cost, 0);
    return {
      wanted: Math.min(quota.burst, Math.max(1, slice - Math.max(0, left)) + waitingCost),
      owed: owing,
    };
  }

  function receive(granted: number, remaining: number, nowMs: number): void {
    isReserving = false;
    shared = { tokens: remaining, atMs: nowMs };
    if (remaining < 1)
      emptyUntilMs = nowMs + Math.max(emptyPauseMs(quota), msUntilTokens(quota, shared, nowMs, 1));
    left += granted + owing;
    owing = 0;
    while (left > 0) {
      const next = waiting.shift();
      if (next === undefined) break;
      left -= next.cost;
      next.resolve(0);
    }
    if (left < 0 || (waiting.length > 0 && nowMs >= emptyUntilMs)) reserve(nowMs);
    else for (const { resolve } of waiting.splice(0)) resolve(toRetryAfterSeconds(emptyUntilMs - nowMs));
  }

  /** In this process and in the shared bucket. Negative while it is in debt. */
  function balanceAt(nowMs: number): number {
    const gained = ((nowMs - shared.atMs) * quota.perSecond) / 1000;
    // A bucket that has been full for long has gained nothing that could repay a debt.
    return Math.min(quota.burst, left + Math.min(quota.burst, shared.tokens + gained));
  }

  function tokensAt(nowMs: number): number {
    return left <= 0 && nowMs < emptyUntilMs ? 0 : balanceAt(nowMs);
  }

  function debtSeconds(nowMs: number): number {
    const balance = Math.max(-debtMaxOf(quota), balanceAt(nowMs));
    return balance >= 0 ? 0 : toRetryAfterSeconds(((1 - balance) * 1000) / quota.perSecond);
  }

  /** The header value is reused while it stays the same, as it does for a client that is at its limit or far from it. */
  function state(nowMs: number): string {
    const tokens = tokensAt(nowMs);
    const isEmpty = tokens < 1;
    const emptyMs = nowMs < emptyUntilMs ? emptyUntilMs - nowMs : ((1 - tokens) * 1000) / quota.perSecond;
    const seconds = isEmpty
      ? toRetryAfterSeconds(emptyMs)
      : Math.ceil((quota.burst - tokens) / quota.perSecond);
    const whole = isEmpty ? 0 : Math.floor(tokens);
    if (shown.left !== whole || shown.seconds !== seconds)
      shown = { left: whole, seconds, text: `"${name}";r=${whole};t=${seconds}` };
    return shown.text;
  }

  return {
    policy: () => policy,
    state,
    remaining: (nowMs) => Math.max(0, tokensAt(nowMs)),
    take,
    charge,
    debtSeconds,
    giveBack: (cost) => {
      left += cost;
    },
    ask,
    receive,
    continueLocally: (nowMs) => {
      const { wanted, owed } = ask();
      const { granted, bucket } = takeTokens(quota, shared, nowMs, wanted, owed);
      receive(granted, bucket.tokens, nowMs);
    },
    surrender: (idleSinceMs) => {
      if (isReserving || left < 0 || usedAtMs > idleSinceMs) return 0;
      const unused = left;
      left = 0;
      return unused;
    },
    isIdle: (idleSinceMs) => !isReserving && left === 0 && usedAtMs <= idleSinceMs,
    quota: () => quota,
    retune: (changed) => {
      quota = changed;
      policy = policyText(name, quota);
      slice = Math.min(slice, sliceMaxOf(quota));
      left = Math.min(left, slice);
    },
  };
}

/** A process holds at most a tenth of the burst ahead of need. */
function sliceMaxOf({ burst }: Quota): number {
  return Math.max(1, Math.floor(burst / 10));
}

function emptyPauseMs(quota: Quota): number {
  return Math.min(emptyPauseMaxMs, (sliceMaxOf(quota) * 1000) / quota.perSecond);
}

/** The quota is the burst and the window is the time in which an empty bucket fills, so that the remaining quota never exceeds it. */
function policyText(name: string, { perSecond, burst }: Quota): string {
  return `"${name}";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`;
}
