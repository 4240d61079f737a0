/** When each of some wallets may be asked about again. */
export interface Pauses {
  readonly isOver: (walletId: string) => boolean;
  /** Twice as long as the one before, up to the longest. */
  readonly pause: (walletId: string) => void;
  readonly end: (walletId: string) => void;
  /** Forgets all others. */
  readonly keepOnly: (walletIds: ReadonlySet<string>) => void;
}

export function createPauses(
  monotonicMs: () => number,
  { firstMs, maxMs }: { firstMs: number; maxMs: number },
): Pauses {
  const pauses = new Map<string, { lengthMs: number; endMs: number }>();
  return {
    isOver: (walletId) => (pauses.get(walletId)?.endMs ?? Number.NEGATIVE_INFINITY) <= monotonicMs(),
    pause: (walletId) => {
      const lengthMs = Math.min(maxMs, (pauses.get(walletId)?.lengthMs ?? firstMs / 2) * 2);
      pauses.set(walletId, { lengthMs, endMs: monotonicMs() + lengthMs });
    },
    end: (walletId) => void pauses.delete(walletId),
    keepOnly: (walletIds) => {
      for (const walletId of pauses.keys()) if (!walletIds.has(walletId)) pauses.delete(walletId);
    },
  };
}
