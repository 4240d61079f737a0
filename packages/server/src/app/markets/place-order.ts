import { timeOfUuidV7 } from "@bursar/domain";
import type { PlaceOrderBody } from "@bursar/protocol";
import type { GroupCommit } from "../../runtime/group-commit.js";
import type { Principal } from "../access/authenticate-request.js";
import type { ActivePolicies } from "../policy/policy.js";
import { hashRequest, replay } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { AcceptedOrder, EarlierOrder, Order, OrderOutcome, OrderStore } from "./order.js";
import { judgeOnTheSpot, reasonToRefuse, toPolicyRequest } from "./order-policy.js";
import { type ReadOrderDeps, readOrder } from "./read-order-request.js";

export interface PlaceOrderDeps extends ReadOrderDeps {
  policies: Pick<ActivePolicies, "peek" | "load">;
  queue: GroupCommit<AcceptedOrder, OrderOutcome>;
  store: Pick<OrderStore, "findOrderByKey">;
  newUuid: () => string;
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
) => Promise<PlacedOrder | Refused>;

/** Validates a request, judges it and stores it. The market's matching engine holds its funds and matches it. */
export function createOrderPlacer(deps: PlaceOrderDeps): PlaceOrder {
  return async (principal, idempotencyKey, body) => {
    const { tenantId, clientId } = principal;
    const read = await readOrder(deps, tenantId, body);
    if (isRefused(read)) return read;
    const { request, wallet } = read;
    const { version, policy } = deps.policies.peek(tenantId) ?? (await deps.policies.load(tenantId));
    const id = deps.newUuid();
    // The id's own time: lists by time are lists by id, and the two must agree to the millisecond.
    const createdAt = new Date(timeOfUuidV7(id));
    const requestHash = hashRequest(body);
    const { market, ...asked } = request;
    const judged = { ...asked, tenantId, clientId, createdAt };
    const verdict = judgeOnTheSpot(policy, toPolicyRequest(market, judged, wallet));
    const reason = verdict === undefined ? null : reasonToRefuse(verdict);
    if (verdict !== undefined && reason !== null) {
      // What was accepted once stays accepted: its repetition is not a new request, and is not judged again.
      const earlier = await deps.store.findOrderByKey(tenantId, idempotencyKey);
      return earlier === undefined ? refuse(verdict.rule, reason) : replayOrder(earlier, requestHash);
    }
    const accepted: AcceptedOrder = {
      ...judged,
      market: market.name,
      id,
      idempotencyKey,
      requestHash,
      walletId: wallet.id,
      reference: body.reference ?? null,
      policyVersion: version,
      needsJudgement: verdict === undefined,
    };
    const outcome = await deps.queue.add(accepted);
    if (outcome === undefined) return { refused: "OVERLOADED" };
    if (outcome.kind === "earlier") return replayOrder(outcome, requestHash);
    return { order: { ...accepted, step: null, judgement: null }, replayed: false };
  };
}

/** The original answer: as it was accepted, whatever has happened since. */
function replayOrder(earlier: EarlierOrder, requestHash: string): PlacedOrder | Refused {
  return replay(earlier.requestHash, requestHash, () => ({
    order: { ...earlier.order, step: null, judgement: null },
    replayed: true,
  }));
}

function refuse(rule: string, reason: string): Refused {
  return { refused: "POLICY_REJECTED", message: reason, details: [{ path: `policy.${rule}`, reason }] };
}
