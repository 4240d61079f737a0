import { policyActions, usageScopes } from "@bursar/domain";
import { type Static, Type } from "typebox";
import { CreateTransactionBody } from "../resources/transaction.js";
import { PolicyDocument } from "./policy-document.js";

const Timestamp = Type.String({ format: "date-time" });
const nullable = <Value extends Parameters<typeof Type.Union>[0][number]>(value: Value) =>
  Type.Union([value, Type.Null()]);

/** The policy of a tenant as it stands. */
export const Policy = Type.Object(
  {
    object: Type.Literal("policy"),
    version: Type.Integer({
      description: "Counts its changes; 0 is the policy that every tenant begins with.",
    }),
    document: PolicyDocument,
    updated_at: nullable(Timestamp),
  },
  { $id: "Policy" },
);
export type Policy = Static<typeof Policy>;

/** A transaction that is not made: `POST /v1/policy/evaluate` says what policy would say of it now. */
export const EvaluatePolicyBody = Type.Object(
  {
    transaction: CreateTransactionBody,
    client_id: Type.Optional(
      Type.String({ maxLength: 64, description: "Who would ask for it; the caller where it is left out." }),
    ),
    at: Type.Optional(
      Type.String({
        format: "date-time",
        description:
          "When it would be asked for, for rules with hours; now where it is left out. Sums are always those of now.",
      }),
    ),
    document: Type.Optional(PolicyDocument),
  },
  { additionalProperties: false },
);
export type EvaluatePolicyBody = Static<typeof EvaluatePolicyBody>;

const SumUsed = Type.Object({
  rule: Type.String(),
  measure: Type.Enum(["sum", "count"]),
  per: Type.Enum([...usageScopes]),
  asset: nullable(Type.String({ description: "Null for a count over all assets." })),
  period_seconds: Type.Integer(),
  before: Type.String({ description: "What is in the period now." }),
  including: Type.String({ description: "The same with this transaction." }),
  limit: Type.String(),
  above: Type.Boolean({ description: "Whether it would be above the limit." }),
});

export const PolicyEvaluation = Type.Object(
  {
    action: Type.Enum([...policyActions]),
    rule: Type.String({ description: "The rule that decides; `default` where none matches." }),
    reason: nullable(Type.String()),
    decided: Type.Enum(["at_once", "later"], {
      description: "Whether `POST /v1/transactions` itself would be refused, or the transaction after it.",
    }),
    approval: nullable(
      Type.Object({
        approvals: Type.Integer(),
        clients: nullable(Type.Array(Type.String())),
        expires_after_seconds: Type.Integer(),
      }),
    ),
    sums: Type.Array(SumUsed, { description: "Of the rules that were for it, up to the one that decides." }),
  },
  { $id: "PolicyEvaluation" },
);
export type PolicyEvaluation = Static<typeof PolicyEvaluation>;
