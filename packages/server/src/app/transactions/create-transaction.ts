import { timeOfUuidV7 } from "@bursar/domain";
import type { CreateTransactionBody } from "@bursar/protocol";
import type { TraceContext } from "../../runtime/tracing/trace-context.js";
import type { Principal } from "../access/authenticate-request.js";
import { type AllowList, kindOfAddress } from "../policy/allow-list.js";
import { judgeActive } from "../policy/judge-active.js";
import type { ActivePolicies } from "../policy/policy.js";
import { hashRequest, replay } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { AcceptQueue } from "./accept-queue.js";
import { type ReadRequestDeps, readTransactionRequest, toPolicyRequest } from "./read-request.js";
import {
  type AcceptedTransaction,
  type AcceptOutcome,
  asAccepted,
  asOfVersion,
  type Transaction,
  type TransactionStore,
} from "./transaction.js";

export interface CreateTransactionDeps extends ReadRequestDeps {
  policies: Pick<ActivePolicies, "peek" | "load">;
  allowList: AllowList;
  queue: AcceptQueue;
  store: Pick<TransactionStore, "findByKey">;
  newUuid: () => string;
  /** Of the database, whose wallets, clients and policies are cached. */
  generation: () => number;
}

interface CreatedTransaction {
  transaction: Transaction;
  /** Whether an earlier request with the same key has created it. */
  replayed: boolean;
}

export type CreateTransaction = (
  principal: Principal,
  idempotencyKey: string,
  body: CreateTransactionBody,
  trace?: TraceContext,
) => Promise<CreatedTransaction | Refused>;

/** Checks a request, judges it if that needs nothing but the policy, and stores it. The rest is the engine's. */
export function createTransactionCreator(deps: CreateTransactionDeps): CreateTransaction {
  return async (principal, idempotencyKey, body, trace) => {
    const draft = await draftTransaction(deps, principal, idempotencyKey, body, trace);
    if (isRefused(draft)) {
      const earlier = await deps.store.findByKey(principal.tenantId, idempotencyKey);
      return earlier === undefined ? draft : replayTransaction(earlier, hashRequest(body));
    }
    const outcome = await deps.queue.accept(draft);
    if (outcome === undefined) return { refused: "OVERLOADED" };
    if (outcome.kind === "earlier") return replayTransaction(outcome, draft.requestHash);
    return { transaction: asAccepted(draft), replayed: false };
  };
}

/**
 * What is refused here may be the repetition of a request that was accepted when the policy, the limits of the asset or the wallets were
 * others. It stays accepted, so the caller looks for it, and only then: an accepted request costs no statement more.
 */
async function draftTransaction(
  deps: CreateTransactionDeps,
  principal: Principal,
  idempotencyKey: string,
  body: CreateTransactionBody,
  trace: TraceContext | undefined,
): Promise<AcceptedTransaction | Refused> {
  const { tenantId, clientId } = principal;
  const generation = deps.generation();
  const request = await readTransactionRequest(deps, tenantId, body);
  if (isRefused(request)) return request;
  const active = deps.policies.peek(tenantId) ?? (await deps.policies.load(tenantId));
  const id = deps.newUuid();
  // The id's own time: lists by time are lists by id, and the two must agree to the millisecond.
  const createdAtMs = timeOfUuidV7(id);
  const { asset, amount, parties } = request;
  const destination =
    parties.kind === "transfer"
      ? "own_wallet"
      : await kindOfAddress(
          deps.allowList,
          tenantId,
          { network: asset.network, address: parties.destination.address },
          new Date(createdAtMs),
        );
  const verdict = judgeActive(active, toPolicyRequest(principal, request, destination, createdAtMs));
  if (verdict.kind === "reject") return refuse(verdict);
  return {
    tenantId,
    id,
    clientId,
    idempotencyKey,
    requestHash: hashRequest(body),
    reference: body.reference,
    asset,
    amount,
    parties,
    metadata: body.metadata ?? null,
    expiresAt: body.expires_at === undefined ? null : new Date(body.expires_at),
    createdAt: new Date(createdAtMs),
    policyVersion: active.version,
    policyRule: verdict.kind === "allow" ? verdict.rule : null,
    needsJudgement: verdict.kind === "later",
    generation,
    trace,
  };
}

/** The original answer: as it was accepted, whatever has happened since. */
function replayTransaction(
  earlier: Extract<AcceptOutcome, { kind: "earlier" }>,
  requestHash: string,
): CreatedTransaction | Refused {
  return replay(earlier.requestHash, requestHash, () => ({
    transaction: asOfVersion(earlier.transaction, 1),
    replayed: true,
  }));
}

function refuse({ rule, reason }: { rule: string; reason: string }): Refused {
  return { refused: "POLICY_REJECTED", message: reason, details: [{ path: `policy.${rule}`, reason }] };
}
