import {
  type AssetRegistry,
  formatAmount,
  type Judgement,
  type Measurement,
  type Verdict,
} from "@bursar/domain";
import { type PolicyEvaluation, showId } from "@bursar/protocol";

interface Evaluation {
  version: number | null;
  isDecidedAtOnce: boolean;
  judgement: Judgement;
}

/** Builds the response of a policy evaluation. */
export function presentEvaluation(
  { version, isDecidedAtOnce, judgement: { verdict, measurements } }: Evaluation,
  assets: AssetRegistry,
): PolicyEvaluation {
  return {
    action: verdict.kind,
    rule: verdict.rule,
    policy_version: version,
    reason: verdict.kind === "reject" ? verdict.reason : null,
    decided: isDecidedAtOnce ? "at_once" : "later",
    approval: verdict.kind === "require_approval" ? presentRequirement(verdict) : null,
    sums: measurements.map((measurement) => presentMeasurement(measurement, assets)),
  };
}

function presentRequirement({ requirement }: Extract<Verdict, { kind: "require_approval" }>) {
  return {
    approvals: requirement.approvals,
    clients: requirement.clientIds?.map((id) => showId("cli", id)) ?? null,
    expires_after_seconds: requirement.expiresAfterSeconds,
    signed: requirement.signed === true,
    people: requirement.people === true,
  };
}

function presentMeasurement(
  { rule, limit, before, including, isAbove }: Measurement,
  assets: AssetRegistry,
): PolicyEvaluation["sums"][number] {
  const decimals = limit.measure === "sum" ? decimalsOf(limit.asset, assets) : 0;
  return {
    rule,
    measure: limit.measure,
    per: limit.per,
    asset: limit.asset,
    period_seconds: limit.periodSeconds,
    before: formatAmount(before, decimals),
    including: formatAmount(including, decimals),
    limit: formatAmount(limit.above, decimals),
    above: isAbove,
  };
}

function decimalsOf(code: string | null, assets: AssetRegistry): number {
  const asset = code === null ? undefined : assets.find(code);
  if (asset === undefined)
    throw new Error(`the policy in force limits an asset that is not configured: ${code}`);
  return asset.decimals;
}
