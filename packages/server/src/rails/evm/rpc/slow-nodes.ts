/** Nodes that are left out for some time, because the others were faster. */
export interface SlowNodes {
  readonly isLeftOut: (name: string) => boolean;
  /** Whether it was late when it was last waited for. */
  readonly isLate: (name: string) => boolean;
  readonly seeLate: (name: string) => void;
  readonly seeInTime: (name: string) => void;
}

const firstPauseMs = 2000;
const pauseMaxMs = 120_000;

/** A node that is late again and again is left out twice as long each time. */
export function createSlowNodes(monotonicMs: () => number): SlowNodes {
  const late = new Map<string, { readonly times: number; readonly untilMs: number }>();
  return {
    isLeftOut: (name) => monotonicMs() < (late.get(name)?.untilMs ?? Number.NEGATIVE_INFINITY),
    isLate: (name) => late.has(name),
    seeLate: (name) => {
      const times = late.get(name)?.times ?? 0;
      const pauseMs = Math.min(pauseMaxMs, firstPauseMs * 2 ** Math.min(times, 16));
      late.set(name, { times: times + 1, untilMs: monotonicMs() + pauseMs });
    },
    seeInTime: (name) => void late.delete(name),
  };
}
