/** Lets in so much work at once; the rest waits in order. */
export type Turnstile = <T>(work: () => Promise<T>) => Promise<T>;

export function createTurnstile(atOnceMax: number): Turnstile {
  const waiting: (() => void)[] = [];
  let inside = 0;
  return async (work) => {
    if (inside === atOnceMax) await new Promise<void>((enter) => waiting.push(enter));
    else inside += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) inside -= 1;
      else next();
    }
  };
}
