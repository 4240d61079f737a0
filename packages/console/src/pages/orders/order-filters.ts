import type { Order } from "@bursar/client";

export const states = [
  "pending",
  "open",
  "partially_filled",
  "filled",
  "cancelled",
  "rejected",
] as const satisfies readonly Order["state"][];

export const sides = ["buy", "sell"] as const;

/** What the address of the page says: each member is absent if it does not restrict. */
export interface OrderFilters {
  market?: string;
  state?: Order["state"];
  side?: Order["side"];
  reference?: string;
}

const marketMax = 65;
const referenceMax = 128;

/** Reads the address, which anybody can have written: what is not a filter is left out. */
export function readOrderFilters(search: Record<string, unknown>): OrderFilters {
  const state = states.find((known) => known === search["state"]);
  const side = sides.find((known) => known === search["side"]);
  const text = (name: string, max: number) => {
    const value = Object.hasOwn(search, name) ? search[name] : undefined;
    return typeof value === "string" && value !== "" ? { [name]: value.slice(0, max) } : {};
  };
  return {
    ...text("market", marketMax),
    ...(state && { state }),
    ...(side && { side }),
    ...text("reference", referenceMax),
  };
}
