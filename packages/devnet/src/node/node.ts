import type { Chain } from "../chain/chain.js";
import { RpcError, rpcCodes } from "../rpc-error.js";
import type { Finality } from "./carry-out.js";
import { carryOut } from "./carry-out.js";
import { type Conditions, rateRefusal } from "./conditions.js";
import { createFaults, type Effect, emptied, type Faults } from "./faults.js";
import { createRateWindow } from "./rate-window.js";

/** One of the nodes that serve the chain. All of them have the same chain; each has conditions and faults of its own. */
export interface DevnetNode {
  conditions: Conditions;
  readonly faults: Faults;
  readonly answer: (method: string, params: readonly unknown[]) => Promise<Answer>;
}

export type Outcome = { readonly result: unknown } | { readonly error: RpcError };

export interface Answer {
  /** Undefined if the connection is to be cut. */
  readonly outcome: Outcome | undefined;
  readonly delayMs: number;
  /** The status of the HTTP response, if the call was alone in it. */
  readonly status: number;
  /** Sent as it is instead of a JSON-RPC response. */
  readonly body?: string;
}

export interface NodeDeps {
  readonly chain: Chain;
  readonly finality: () => Finality;
  readonly monotonicMs: () => number;
  /** Called when a transaction was accepted. */
  readonly onSent: () => void;
}

export function createNode({ chain, finality, monotonicMs, onSent }: NodeDeps): DevnetNode {
  const faults = createFaults();
  const isAdmitted = createRateWindow(monotonicMs);
  const node: DevnetNode = {
    conditions: {},
    faults,
    answer: async (method, params) => {
      const { callsPerSecondMax, provider = "infura" } = node.conditions;
      if (callsPerSecondMax !== undefined && !isAdmitted(callsPerSecondMax))
        return { outcome: { error: rateRefusal(provider, callsPerSecondMax) }, delayMs: 0, status: 429 };
      return await withEffect(faults.next(method), async () => {
        const { conditions } = node;
        const outcome = await settle(
          chain.run((state) => carryOut({ state, conditions, finality: finality() }, method, params)),
        );
        if (method === "eth_sendRawTransaction" && "result" in outcome) onSent();
        return outcome;
      });
    },
  };
  return node;
}

/** Errors that are not refusals have ended the chain; the request gets an answer all the same. */
export async function settle(task: Promise<unknown>): Promise<Outcome> {
  try {
    return { result: await task };
  } catch (error) {
    return {
      error: error instanceof RpcError ? error : new RpcError(rpcCodes.internalError, "Internal error"),
    };
  }
}

async function withEffect(effect: Effect | undefined, carriedOut: () => Promise<Outcome>): Promise<Answer> {
  const plain = { delayMs: 0, status: 200 };
  switch (effect?.kind) {
    case undefined:
      return { ...plain, outcome: await carriedOut() };
    case "late":
      return { ...plain, outcome: await carriedOut(), delayMs: effect.delayMs };
    case "lost":
      await carriedOut();
      return { ...plain, outcome: undefined };
    case "cut":
      return { ...plain, outcome: undefined };
    case "wrong":
      await carriedOut();
      return { ...plain, outcome: { result: effect.result } };
    case "empty": {
      const outcome = await carriedOut();
      return { ...plain, outcome: "result" in outcome ? { result: emptied(outcome.result) } : outcome };
    }
    case "error":
      if (effect.carriedOut) await carriedOut();
      return { ...plain, outcome: { error: new RpcError(effect.code, effect.message) } };
    case "status": {
      const error = new RpcError(rpcCodes.serverError, effect.body);
      return { outcome: { error }, delayMs: 0, status: effect.status, body: effect.body };
    }
  }
}
