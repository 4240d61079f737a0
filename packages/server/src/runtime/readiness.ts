/** Whether the service can take work. Set by what starts and stops the service, read by the edge. */
export interface Readiness {
  state: () => ReadinessState;
  set: (state: ReadinessState) => void;
  /** Resolves when the database answers; rejects when it does not. */
  checkDatabase: () => Promise<void>;
  /** How the clocks differ, if they differ by too much. */
  clockFault: () => string | undefined;
  /** The states of the chains and of the signer, if there are chains in use. They do not make the service unready: its other work goes on. */
  checkChains?: (() => Promise<ChainChecks | undefined>) | undefined;
  /** The names of halted markets, which do not make the service unready either. */
  findHaltedMarkets?: (() => Promise<readonly string[]>) | undefined;
}

export interface ChainChecks {
  signer: "up" | "down";
  networks: readonly NetworkCheck[];
}

interface NetworkCheck {
  network: string;
  state: "connecting" | "waiting" | "unreachable" | "stalled" | "following" | "halted";
  /** Since when no node has answered. */
  unreachableSince: Date | null;
}

/** A part of the service and what is wrong with it: `clock`, `differs by 7 s`. */
export interface ReadinessFault {
  path: string;
  reason: string;
}

/** What keeps a service from being ready whose database answers. */
export function findFaults({ state, clockFault }: Pick<Readiness, "state" | "clockFault">): ReadinessFault[] {
  const clock = clockFault();
  return [
    ...(state() === "ready" ? [] : [{ path: "service", reason: `is ${state()}` }]),
    ...(clock === undefined ? [] : [{ path: "clock", reason: clock }]),
  ];
}

type ReadinessState = "starting" | "ready" | "stopping";

export interface DatabaseProbe {
  ping: () => Promise<void>;
  clockFault: () => string | undefined;
  checkChains?: Readiness["checkChains"];
  findHaltedMarkets?: Readiness["findHaltedMarkets"];
}

export function createReadiness(probe: DatabaseProbe): Readiness {
  let state: ReadinessState = "starting";
  let pending: Promise<void> | undefined;
  return {
    state: () => state,
    set: (next) => {
      state = next;
    },
    // Probes that arrive together share one query: a flood of them costs the database nothing.
    checkDatabase: () => {
      pending ??= withTimeout(probe.ping(), pingTimeoutMs).finally(() => {
        pending = undefined;
      });
      return pending;
    },
    clockFault: probe.clockFault,
    checkChains: probe.checkChains,
    findHaltedMarkets: probe.findHaltedMarkets,
  };
}

/** A database that has not answered by then cannot serve requests. */
const pingTimeoutMs = 2000;

async function withTimeout(work: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
  });
  // The one that loses the race is not waited for, and its failure is ignored.
  work.catch(() => undefined);
  try {
    await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
