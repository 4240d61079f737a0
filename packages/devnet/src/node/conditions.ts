import { type Static, Type } from "typebox";
import { toHex } from "../chain/hex.js";
import { RpcError, rpcCodes } from "../rpc-error.js";

/** What is permanently different about a node, until it is set again. Faults are about single answers. */

const Count = Type.Integer({ minimum: 1, maximum: 1_000_000 });

/** Providers word the same refusal differently; these are messages that they have sent. */
export const Provider = Type.Enum(["alchemy", "base", "cloudflare", "infura", "quicknode", "reth"]);
export type Provider = Static<typeof Provider>;

export const Conditions = Type.Object(
  {
    /** The node has not seen the last blocks. */
    lagBlocks: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
    /** What the node says that its chain id is. */
    chainId: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 48 })),
    /** From this block on the node has other hashes than the other node. */
    forkedFrom: Type.Optional(Type.Integer({ minimum: 0 })),
    logsRangeMax: Type.Optional(Count),
    logsResultsMax: Type.Optional(Count),
    callsPerSecondMax: Type.Optional(Count),
    provider: Type.Optional(Provider),
  },
  { additionalProperties: false },
);
export type Conditions = Static<typeof Conditions>;

export function rangeRefusal(provider: Provider, from: number, to: number, rangeMax: number): RpcError {
  const range = to - from + 1;
  const suggested = `[${toHex(from)}, ${toHex(from + rangeMax - 1)}]`;
  switch (provider) {
    case "alchemy":
      return new RpcError(
        rpcCodes.invalidParams,
        `Log response size exceeded. You can make eth_getLogs requests with up to a ${rangeMax} block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: ${suggested}`,
      );
    case "base":
    case "quicknode":
      return new RpcError(-32614, `eth_getLogs is limited to a ${rangeMax.toLocaleString("en-US")} range`);
    case "cloudflare":
      return new RpcError(
        -32047,
        `Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: ${rangeMax}`,
      );
    case "infura":
      return new RpcError(rpcCodes.invalidParams, `range ${range} exceeds limit of ${rangeMax}`);
    case "reth":
      return new RpcError(rpcCodes.invalidParams, `query exceeds max block range ${rangeMax}`);
  }
}

export function resultsRefusal(provider: Provider, from: number, resultsMax: number): RpcError {
  if (provider === "reth")
    return new RpcError(
      rpcCodes.invalidParams,
      `query exceeds max results ${resultsMax}, retry with the range ${from}-${from}`,
    );
  return new RpcError(rpcCodes.limitExceeded, `query returned more than ${resultsMax} results`);
}

export function rateRefusal(provider: Provider, perSecond: number): RpcError {
  switch (provider) {
    case "alchemy":
      return new RpcError(
        429,
        "Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message. If not, check out https://docs.alchemy.com/reference/throughput",
      );
    case "base":
      return new RpcError(-32016, "over rate limit");
    case "infura":
      return new RpcError(rpcCodes.limitExceeded, "exceeded project rate limit", {
        rate: { allowed_rps: perSecond, backoff_seconds: 30, current_rps: perSecond + 0.2 },
        see: "https://infura.io/dashboard",
      });
    case "quicknode":
      return new RpcError(-32007, `${perSecond}/second request limit reached - reduce calls per second`);
    case "cloudflare":
    case "reth":
      return new RpcError(rpcCodes.limitExceeded, "rate limit exceeded");
  }
}
