import { type AssetRegistry, type Judgement, judgeWithUsage, type PolicyRequest } from "@bursar/domain";
import { type EvaluatePolicyBody, type PolicyEvaluation, readId } from "@bursar/protocol";
import type { KeyedMutex } from "../../runtime/concurrency/keyed-mutex.js";
import type { Principal } from "../access/authenticate-request.js";
import { reasonToRefuse } from "../markets/order-policy.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { CheckDocument } from "./check-document.js";
import type { ReadEvaluatedRequest } from "./evaluated-request.js";
import { judgeActive, judgeActiveWithUsage, windowsOfActive } from "./judge-active.js";
import type { ActivePolicies, ActivePolicy, PolicyStore } from "./policy.js";
import { presentEvaluation } from "./present-evaluation.js";
import type { OnHistoryRead, UsageStore } from "./usage.js";

export interface EvaluatePolicyDeps {
  policies: ActivePolicies;
  checkDocument: CheckDocument;
  readRequest: ReadEvaluatedRequest;
  usage: UsageStore;
  /** Runs one evaluation of a tenant at a time that may have to read its log. */
  logReads: KeyedMutex;
  store: Pick<PolicyStore, "findOwn">;
  assets: AssetRegistry;
  now: () => number;
}

export type EvaluatePolicy = (
  principal: Principal,
  body: EvaluatePolicyBody,
  onHistoryRead?: OnHistoryRead,
) => Promise<PolicyEvaluation | Refused>;

/** The policy to evaluate; it has no version if it is not in force. */
type EvaluatedPolicy = Omit<ActivePolicy, "version"> & { version: number | null };

/** Evaluates the policy for a transaction or an order without creating it. Nothing is written, and nothing counts towards limits. */
export function createPolicyEvaluator(deps: EvaluatePolicyDeps): EvaluatePolicy {
  return async (principal, body, onHistoryRead) => {
    const { tenantId } = principal;
    const clientId = await findInitiator(deps.store, principal, body.client_id);
    if (isRefused(clientId)) return clientId;
    const requestedAtMs = body.at === undefined ? deps.now() : Date.parse(body.at);
    const request = await deps.readRequest({ tenantId, clientId }, body, new Date(requestedAtMs));
    if (isRefused(request)) return request;
    const active = await findPolicy(deps, tenantId, body.document);
    if (isRefused(active)) return active;
    const evaluated = await evaluate(deps, principal, active, request, onHistoryRead);
    return isRefused(evaluated) ? evaluated : presentEvaluation(evaluated, deps.assets);
  };
}

async function findInitiator(
  store: EvaluatePolicyDeps["store"],
  { tenantId, clientId }: Principal,
  named: string | undefined,
): Promise<string | Refused> {
  if (named === undefined) return clientId;
  const id = readId("cli", named);
  const isOwn = id !== undefined && (await store.findOwn(tenantId, "client", [id])).has(id);
  return isOwn ? id : fault("CLIENT_UNKNOWN", "body.client_id", "is not a client of this tenant");
}

/** The policy in the request, or else the one in force, as this process has it cached. */
async function findPolicy(
  { policies, checkDocument }: EvaluatePolicyDeps,
  tenantId: string,
  document: unknown,
): Promise<EvaluatedPolicy | Refused> {
  if (document === undefined) return policies.peek(tenantId) ?? (await policies.load(tenantId));
  const checked = await checkDocument(tenantId, document, "body.document");
  return isRefused(checked) ? checked : { version: null, policy: checked.policy, guards: [] };
}

async function evaluate(
  { usage, logReads, now }: EvaluatePolicyDeps,
  { scopes }: Principal,
  { version, ...active }: EvaluatedPolicy,
  request: PolicyRequest,
  onHistoryRead: OnHistoryRead | undefined,
) {
  const windows = windowsOfActive(active, request).map((window) => ({ tenantId: request.tenantId, window }));
  if (windows.length > 0 && !scopes.has("transactions:read")) return sumsAreHidden;
  const read = () => usage.readUsage(windows, new Date(now()), onHistoryRead);
  const reading = version === null && windows.length > 0 ? logReads(request.tenantId, read) : read();
  if (reading === undefined) return tooManyEvaluations;
  const held = await reading;
  if (held === undefined) return historyTooLong;
  const { measurements } = judgeWithUsage(active.policy, request, held);
  const judgement = { verdict: judgeActiveWithUsage(active, request, held), measurements };
  if (request.market !== null)
    return { version, isDecidedAtOnce: windows.length === 0, judgement: judgementOfOrder(judgement) };
  return { version, isDecidedAtOnce: judgeActive(active, request).kind !== "later", judgement };
}

const tooManyEvaluations: Refused = {
  refused: "CONCURRENCY_LIMITED",
  message: "Too many evaluations of documents with limits are in progress.",
  retryAfterSeconds: 1,
};

const historyTooLong: Refused = {
  refused: "LIMITS_NOT_READY",
  message:
    "The document has a limit that the policy in force does not have, and its period has too many transactions to be evaluated. Put the policy in force first.",
};

/** Not only the sums themselves: by the verdicts on different amounts a caller can find a sum that it is not shown. */
const sumsAreHidden: Refused = {
  refused: "INSUFFICIENT_SCOPE",
  message:
    "A rule that could decide this has a sum or a count. Evaluating it reveals the volumes of the tenant, and needs the scope transactions:read.",
};

/** An order cannot wait for approval, so a rule that requires it rejects the order. */
function judgementOfOrder({ verdict, measurements }: Judgement): Judgement {
  const reason = reasonToRefuse(verdict);
  if (reason === null) return { verdict, measurements };
  return { verdict: { kind: "reject", rule: verdict.rule, reason }, measurements };
}

function fault(refused: Refused["refused"], path: string, reason: string): Refused {
  return { refused, details: [{ path, reason }] };
}
