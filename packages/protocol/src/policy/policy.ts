import { policyActions, usageScopes } from "@bursar/domain";
import { type Static, Type } from "typebox";
import { Page } from "../pagination.js";
import { CreateTransactionBody, WalletSide } from "../resources/transaction.js";
import { AddressSide } from "./destination.js";
import { PolicyDocumentRef } from "./policy-document.js";

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
    document: PolicyDocumentRef,
    updated_at: nullable(Timestamp),
  },
  { $id: "Policy" },
);
export type Policy = Static<typeof Policy>;

export const PolicyQuery = Type.Object(
  {
    version: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2_147_483_647,
        description: "One that was in force before; the one in force where it is left out.",
      }),
    ),
  },
  { additionalProperties: false },
);

const PolicyVersion = Type.Object(
  {
    object: Type.Literal("policy_version"),
    version: Type.Integer(),
    created_by: Type.String({ description: "The client that has written it." }),
    created_at: Timestamp,
  },
  { $id: "PolicyVersion" },
);

/** Version 0 was written by nobody, and is not in the list. */
export const PolicyVersionPage = Page(PolicyVersion, "PolicyVersionPage");

/** A transaction that is not made: `POST /v1/policy/evaluate` says what policy would say of it now. */
export const EvaluatePolicyBody = Type.Object(
  {
    transaction: Type.Object(
      {
        ...CreateTransactionBody.properties,
        destination: Type.Optional(Type.Union([WalletSide, AddressSide])),
      },
      { additionalProperties: false },
    ),
    client_id: Type.Optional(
      Type.String({ maxLength: 64, description: "Who would ask for it; the caller where it is left out." }),
    ),
    at: Type.Optional(
      Type.String({
        format: "date-time",
        description:
          "When it would be asked for, for rules with hours and for addresses that wait; now where it is left out. Sums are always those of now.",
      }),
    ),
    document: Type.Optional(PolicyDocumentRef),
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
    policy_version: nullable(
      Type.Integer({ description: "Of the policy in force; null where the request brought a document." }),
    ),
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
