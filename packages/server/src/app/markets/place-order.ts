import { type MarketRegistry, timeOfUuidV7 } from "@bursar/domain";
import { type PlaceOrderBody, readId } from "@bursar/protocol";
import type { GroupCommit } from "../../runtime/group-commit.js";
import type { Principal } from "../access/authenticate-request.js";
import type { ActivePolicies } from "../policy/policy.js";
import { hashRequest, replay } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { KnownWallet } from "../wallets/wallet.js";
import type { WalletDirectory } from "../wallets/wallet-directory.js";
import type { AcceptedOrder, EarlierOrder, Order, OrderOutcome, OrderStore } from "./order.js";
import { judgeOnTheSpot, reasonToRefuse, toPolicyRequest } from "./order-policy.js";
import { readOrderRequest } from "./read-order-request.js";

export interface PlaceOrderDeps {
  markets: MarketRegistry;
  wallets: WalletDirectory;
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
    const request = readOrderRequest(deps.markets, body);
    if (isRefused(request)) return request;
    const wallet = await findWallet(deps.wallets, tenantId, body.wallet_id);
    if (isRefused(wallet)) return wallet;
    const { network } = request.market.base;
    if (wallet.network !== network) return networkMismatch(wallet, network);
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

async function findWallet(
  wallets: WalletDirectory,
  tenantId: string,
  named: string | undefined,
): Promise<KnownWallet | Refused> {
  if (named === undefined) return await wallets.findByRole(tenantId, "primary");
  const id = readId("wlt", named);
  const wallet = id === undefined ? undefined : await wallets.find(tenantId, id);
  if (wallet !== undefined) return wallet;
  return {
    refused: "WALLET_UNKNOWN",
    details: [{ path: "body.wallet_id", reason: "is not a wallet of this tenant" }],
  };
}

/** Orders are settled in the ledger, in assets of one network: only that network's wallets have them. */
function networkMismatch(wallet: KnownWallet, network: string): Refused {
  const reason = `is a wallet of the network ${wallet.network}; the market trades assets of ${network}`;
  return { refused: "NETWORK_MISMATCH", details: [{ path: "body.wallet_id", reason }] };
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
