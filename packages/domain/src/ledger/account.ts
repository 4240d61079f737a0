import type { Balance } from "./accounts.js";

/** What a step of a transaction does to the money. */
export type LedgerEffect = "none" | "hold" | "release" | "pay_from_available" | "pay_from_held";

/** The balances of a transaction's two sides after an effect; undefined where the source does not have enough. */
export function applyEffect(
  effect: LedgerEffect,
  amount: bigint,
  source: Balance,
  destination: Balance,
): { source: Balance; destination: Balance } | undefined {
  if (amount <= 0n) throw new Error("an amount of money is positive");
  switch (effect) {
    case "none":
      return { source, destination };
    case "hold":
      if (source.available < amount) return undefined;
      return { source: { available: source.available - amount, held: source.held + amount }, destination };
    case "release":
      if (source.held < amount) throw new Error("a hold that is released must be there");
      return { source: { available: source.available + amount, held: source.held - amount }, destination };
    case "pay_from_available":
      if (source.available < amount) return undefined;
      return {
        source: { available: source.available - amount, held: source.held },
        destination: { available: destination.available + amount, held: destination.held },
      };
    case "pay_from_held":
      if (source.held < amount) throw new Error("a hold that is paid from must be there");
      return {
        source: { available: source.available, held: source.held - amount },
        destination: { available: destination.available + amount, held: destination.held },
      };
  }
}
