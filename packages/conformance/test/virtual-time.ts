import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import { afterAll, beforeAll } from "vitest";

/**
 * A run of the kit mostly waits. With the kit, the server and the receiver in one process, time need not pass for that: the clock stands
 * still while anything happens, and goes on to the next timer when nothing does. So a busy machine makes nothing late, and no run is longer
 * than the work that it does.
 */
export function useVirtualTime(): void {
  let restore = () => {};
  beforeAll(() => {
    restore = replaceTime();
  });
  afterAll(() => restore());
}

/** Turns of the event loop without a timer, after which nothing more happens by itself: more than the servers take for a request. */
const quietTurns = 16;
/** Further turns, of 1 ms, while there are sockets or requests to the operating system, which the loop does not see at work. */
const quietTurnsOutside = 4;
const outside = /^(TCPSocketWrap|.*Req(uest|Wrap|Promise|Callback)?|.*ConnectWrap|.*Job)$/;
/** As long as one runs, no turn is quiet. */
const childProcess = "ProcessWrap";

class VirtualTimer {
  readonly dueMs: number;
  readonly act: () => void;
  isCleared = false;

  constructor(dueMs: number, act: () => void) {
    this.dueMs = dueMs;
    this.act = act;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

function replaceTime(): () => void {
  const real = {
    Date,
    setTimeout,
    clearTimeout,
    now: performance.now,
    delay: timersPromises.setTimeout,
  };
  const beganAt = Date.now() - performance.now();
  let nowMs = performance.now();
  const timers: VirtualTimer[] = [];
  let isGoing = false;
  let quiet = 0;

  const goOn = () => {
    while (timers[0]?.isCleared === true) timers.shift();
    const [next] = timers;
    if (next === undefined) {
      isGoing = false;
      return;
    }
    quiet += 1;
    if (quiet < quietTurns) {
      setImmediate(goOn);
      return;
    }
    const resources = process.getActiveResourcesInfo();
    const isOutside = resources.some((name) => outside.test(name));
    if (resources.includes(childProcess)) quiet = 0;
    if (quiet < quietTurns + (isOutside ? quietTurnsOutside : 0)) {
      real.setTimeout(goOn, 1);
      return;
    }
    quiet = 0;
    timers.shift();
    nowMs = Math.max(nowMs, next.dueMs);
    next.act();
    setImmediate(goOn);
  };

  const add = (act: () => void, afterMs = 0): VirtualTimer => {
    const timer = new VirtualTimer(nowMs + Math.max(1, Math.trunc(afterMs)), act);
    const later = timers.findIndex(({ dueMs }) => dueMs > timer.dueMs);
    timers.splice(later < 0 ? timers.length : later, 0, timer);
    quiet = 0;
    if (!isGoing) {
      isGoing = true;
      setImmediate(goOn);
    }
    return timer;
  };

  class VirtualDate extends real.Date {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [beganAt + nowMs] : given) as [number]));
    }
    static override now(): number {
      return Math.trunc(beganAt + nowMs);
    }
  }

  const delay = <T>(afterMs?: number, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T> =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const abort = () => {
        timer.isCleared = true;
        reject(signal?.reason);
      };
      const timer = add(() => {
        signal?.removeEventListener("abort", abort);
        resolve(value as T);
      }, afterMs);
      signal?.addEventListener("abort", abort, { once: true });
    });

  const install = (parts: object) => Object.assign(globalThis, parts);
  install({
    Date: VirtualDate,
    setTimeout: (act: (...given: unknown[]) => void, afterMs?: number, ...given: unknown[]) =>
      add(() => act(...given), afterMs),
    clearTimeout: (timer?: NodeJS.Timeout | VirtualTimer) => {
      if (timer instanceof VirtualTimer) timer.isCleared = true;
      else real.clearTimeout(timer);
    },
  });
  performance.now = () => nowMs;
  timersPromises.setTimeout = delay as typeof real.delay;
  syncBuiltinESMExports();
  return () => {
    install({ Date: real.Date, setTimeout: real.setTimeout, clearTimeout: real.clearTimeout });
    performance.now = real.now;
    timersPromises.setTimeout = real.delay;
    syncBuiltinESMExports();
  };
}
