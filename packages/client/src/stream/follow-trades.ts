import type { Trade } from "../generated/schemas.js";
import type { Transport } from "../transport/transport.js";
import { type FollowOptions, follow, type Gap } from "./follow.js";

/** A trade, or what is missing. */
export type FollowedTrade = { type: "trade"; sequence: number; epoch: string; trade: Trade } | Gap;

export function followTrades(transport: Transport) {
  return async function* trades(
    market: string,
    options: FollowOptions = {},
  ): AsyncGenerator<FollowedTrade, void, undefined> {
    const followed = {
      channel: `trades:${market}`,
      filter: {},
      isGapless: true,
      read: ({ type, trade }: { type: string; trade?: unknown }) =>
        type === "trade" ? { sequence: (trade as Trade).sequence, item: trade as Trade } : undefined,
    };
    for await (const found of follow(transport, followed, options))
      yield "type" in found
        ? found
        : { type: "trade", sequence: found.sequence, epoch: found.epoch, trade: found.item };
  };
}
