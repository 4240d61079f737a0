import {
  type EvaluatePolicyBody,
  isBursarError,
  type PolicyDocument,
  type PolicyEvaluation,
  type Transaction,
} from "@bursar/client";

export interface Outcome {
  action: PolicyEvaluation["action"];
  rule: string;
  approvals: number | undefined;
}

export interface Compared {
  before: Outcome;
  after: Outcome;
  isSame: boolean;
}

type Evaluate = (body: EvaluatePolicyBody, signal: AbortSignal) => Promise<PolicyEvaluation>;

const hourMs = 3_600_000;

/**
 * Compares what the policy in force and a draft decide about payments. Equal payments of the same hour are evaluated once. Undefined if the
 * policy does not judge such a transaction, or its wallet or client no longer exists.
 */
export function createComparer(
  evaluate: Evaluate,
  document: PolicyDocument,
): (transaction: Transaction, signal: AbortSignal) => Promise<Compared | undefined> {
  const known = new Map<string, Promise<Compared | undefined>>();
  return (transaction, signal) => {
    const body = requestOf(transaction);
    if (body === undefined) return Promise.resolve(undefined);
    const key = JSON.stringify({ ...body, at: Math.floor(Date.parse(transaction.created_at) / hourMs) });
    const found = known.get(key) ?? compare((request) => evaluate(request, signal), document, body);
    known.set(key, found);
    return found;
  };
}

async function compare(
  evaluate: (body: EvaluatePolicyBody) => Promise<PolicyEvaluation>,
  document: PolicyDocument,
  body: EvaluatePolicyBody,
): Promise<Compared | undefined> {
  try {
    // One after the other, so that as many requests are under way as comparisons.
    const before = outcomeOf(await evaluate(body));
    const after = outcomeOf(await evaluate({ ...body, document }));
    const isSame = before.action === after.action && before.approvals === after.approvals;
    return { before, after, isSame };
  } catch (error) {
    // What is wrong with the document ends the comparison; what is wrong with one payment leaves it out.
    const isOfPayment = isBursarError(error) && error.status === 422 && error.code !== "POLICY_INVALID";
    if (isOfPayment) return undefined;
    throw error;
  }
}

function outcomeOf({ action, rule, approval }: PolicyEvaluation): Outcome {
  return { action, rule, approvals: approval?.approvals };
}

function requestOf(transaction: Transaction): EvaluatePolicyBody | undefined {
  const { kind, asset, amount, source, destination, network, created_by, created_at } = transaction;
  if (kind !== "transfer" && kind !== "payout") return undefined;
  if (source === null || !("wallet_id" in source)) return undefined;
  return {
    transaction: {
      reference: "dry-run",
      asset,
      amount,
      source: { wallet_id: source.wallet_id },
      destination:
        "address" in destination
          ? { network, address: destination.address }
          : { wallet_id: destination.wallet_id },
    },
    ...(created_by === null ? {} : { client_id: created_by }),
    at: created_at,
  };
}
