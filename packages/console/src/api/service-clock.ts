/** The time of the service. Clocks of computers are wrong by hours, and a payment of this morning must not count as old for that. */
export interface ServiceClock {
  /** Reads `Date` of a response. */
  note: (headers: Pick<Headers, "get">) => void;
  /** Until a response has come, the time of this computer. */
  nowMs: () => number;
  /** Whether a response has said the time. What is removed by age waits for it. */
  isKnown: () => boolean;
}

export function createServiceClock(localMs: () => number): ServiceClock {
  let aheadMs: number | undefined;
  return {
    note: (headers) => {
      const saidMs = Date.parse(headers.get("date") ?? "");
      if (!Number.isNaN(saidMs)) aheadMs = saidMs - localMs();
    },
    nowMs: () => localMs() + (aheadMs ?? 0),
    isKnown: () => aheadMs !== undefined,
  };
}

/** That of the service this page belongs to. */
export const serviceClock: ServiceClock = createServiceClock(() => Date.now());
