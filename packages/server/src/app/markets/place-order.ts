import { boundOrder, formatPrice, type MarketPrices, timeOfUuidV7, type Verdict } from "@bursar/domain";
import type { PlaceOrderBody } from "@bursar/protocol";
import type { GroupCommit } from "../../runtime/concurrency/group-commit.js";
import type { TraceContext } from "../../runtime/tracing/trace-context.js";
import type { Principal } from "../access/authenticate-request.js";
import type { ActivePolicies } from "../policy/policy.js";
import { hashRequest, replay } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { AcceptedOrder, EarlierOrder, Order, OrderOutcome, OrderStore } from "./order.js";
import { judgeOnTheSpot, reasonToRefuse, toPolicyRequest } from "./order-policy.js";
import { type OrderRequest, type ReadOrderDeps, readOrder } from "./read-order-request.js";

export interface PlaceOrderDeps extends ReadOrderDeps {
  policies: Pick<ActivePolicies, "peek" | "load">;
  queue: GroupCommit<AcceptedOrder, OrderOutcome>;
  store: Pick<OrderStore, "findOrderByKey">;
  /** What prices are compared with, as this process knows it; undefined right after a start. */
  pricesOf: (market: string) => MarketPrices | undefined;
  newUuid: () => string;
  /** Of the database, whose wallets, clients and policies are cached. */
  generation: () => number;
}

interface PlacedOrder {
  order: Order;
  /** Whether an earlier request with the same key has placed it. */
  replayed: boolean;
}

export type PlaceOrder = (
  principal: Principal,
  idempotencyKey: string,
  body: PlaceOrderBody,
  /** The span of the request, if it is recorded. */
  trace?: TraceContext,
) => Promise<PlacedOrder | Refused>;

/** Validates a request, judges it and stores it. The market's matching engine holds its funds and matches it. */
export function createOrderPlacer(deps: PlaceOrderDeps): PlaceOrder {
  return async (principal, idempotencyKey, body, trace) => {
    const draft = await draftOrder(deps, principal, idempotencyKey, body, trace);
    if (isRefused(draft)) {
      const earlier = await deps.store.findOrderByKey(principal.tenantId, idempotencyKey);
      return earlier === undefined ? draft : replayOrder(earlier, hashRequest(body));
    }
    const outcome = await deps.queue.add(draft);
    if (outcome === undefined) return { refused: "OVERLOADED" };
    if (outcome.kind === "earlier") return replayOrder(outcome, draft.requestHash);
    return { order: { ...draft, step: null, judgement: null }, replayed: false };
  };
}

/** As for a transaction, what is refused here may have been accepted before, and then stays accepted. The caller looks for it. */
async function draftOrder(
  deps: PlaceOrderDeps,
  { tenantId, clientId }: Principal,
  idempotencyKey: string,
  body: PlaceOrderBody,
  trace: TraceContext | undefined,
): Promise<AcceptedOrder | Refused> {
  const generation = deps.generation();
  const read = await readOrder(deps, tenantId, body);
  if (isRefused(read)) return read;
  const { request, wallet } = read;
  const { version, policy } = deps.policies.peek(tenantId) ?? (await deps.policies.load(tenantId));
  const id = deps.newUuid();
  // The id's own time: lists by time are lists by id, and the two must agree to the millisecond.
  const createdAt = new Date(timeOfUuidV7(id));
  const { market, ...asked } = request;
  const judged = { ...asked, tenantId, clientId, createdAt };
  const verdict = judgeOnTheSpot(policy, toPolicyRequest(market, judged, wallet));
  const refused = refuseByPolicy(verdict) ?? refuseByPrice(request, deps.pricesOf(market.name));
  if (refused !== undefined) return refused;
  return {
    ...judged,
    market: market.name,
    id,
    idempotencyKey,
    requestHash: hashRequest(body),
    walletId: wallet.id,
    reference: body.reference ?? null,
    policyVersion: version,
    needsJudgement: verdict === undefined,
    generation,
    trace,
  };
}

/** The original answer: as it was accepted, whatever has happened since. */
function replayOrder(earlier: EarlierOrder, requestHash: string): PlacedOrder | Refused {
  return replay(earlier.requestHash, requestHash, () => ({
    order: { ...earlier.order, step: null, judgement: null },
    replayed: true,
  }));
}

function refuseByPolicy(verdict: Verdict | undefined): Refused | undefined {
  const reason = verdict === undefined ? null : reasonToRefuse(verdict);
  if (verdict === undefined || reason === null) return undefined;
  const { rule } = verdict;
  return { refused: "POLICY_REJECTED", message: reason, details: [{ path: `policy.${rule}`, reason }] };
}

/** As far as this process knows; the process that runs the market decides, when it admits the order. */
function refuseByPrice(
  { market, side, price }: OrderRequest,
  prices: MarketPrices | undefined,
): Refused | undefined {
  if (prices === undefined || boundOrder({ side, price }, prices) !== "out_of_band") return undefined;
  const [min, max] = [prices.range.min, prices.range.max].map((bound) =>
    formatPrice(bound, market.steps),
  ) as [string, string];
  const [path, what] = price === null ? ["body.type", "would trade at a price"] : ["body.price", "is"];
  return {
    refused: "PRICE_OUT_OF_BAND",
    details: [{ path, reason: `${what} outside the allowed range from ${min} to ${max}`, min, max }],
  };
}
