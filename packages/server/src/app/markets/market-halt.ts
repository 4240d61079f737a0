import { nilTenantId } from "../audit/audit-entry.js";
import type { MarketHalt } from "./market-store.js";

const reasonLengthMax = 500;

/** A halt ends by `bursar market resume`: what it is about is an attack or a mistake outside the service, and no retry makes it right. */
export function haltOfMarket(market: string, error: unknown, at: Date): MarketHalt {
  const message = error instanceof Error ? error.message : String(error);
  return {
    reason: message.slice(0, reasonLengthMax).replaceAll("\u0000", "\ufffd").toWellFormed(),
    at,
    entry: {
      ...{ tenantId: nilTenantId, occurredAt: at, actor: "service", clientId: null, tokenId: null },
      ...{ action: "market.halt", object: market, outcome: "succeeded", code: "MARKET_FAILED", repeated: 1 },
      ...{ requestId: null, address: null },
    },
  };
}
