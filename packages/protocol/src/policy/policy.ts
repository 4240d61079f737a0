import { policyActions, usageScopes } from "@bursar/domain";
import { type Static, Type } from "typebox";
import { Page, PageQuery } from "../pagination.js";
import { PlaceOrderBody } from "../resources/order.js";
import { CreateTransactionBody, WalletParty } from "../resources/transaction.js";
import { Nullable, OneOf, Timestamp } from "../values.js";
import { NetworkAddress } from "./destination.js";
import { PolicyDocument } from "./policy-document.js";

/** The policy of a tenant. */
export const Policy = Type.Object(
  {
    object: Type.Literal("policy"),
    version: Type.Integer({
      description: "Increases with every change; 0 is the policy that every tenant starts with.",
    }),
    document: PolicyDocument,
    updated_at: Nullable(Timestamp()),
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
        description: "An earlier version. Defaults to the one in force.",
        examples: [3],
      }),
    ),
  },
  { additionalProperties: false },
);

const PolicyVersion = Type.Object(
  {
    object: Type.Literal("policy_version"),
    version: Type.Integer(),
    created_by: Nullable(Type.String(), "The id of the client that wrote it; null for the operator."),
    created_at: Timestamp(),
  },
  { $id: "PolicyVersion" },
);

/** Version 0 has no author, and is not in the list. */
export const PolicyVersionPage = Page(PolicyVersion, "PolicyVersionPage");

export const PolicyVersionQuery = PageQuery("policyVersions");

const EvaluatedTransaction = Type.Object(
  {
    ...CreateTransactionBody.properties,
    destination: Type.Optional(Type.Union([WalletParty, NetworkAddress])),
  },
  { $id: "EvaluatedTransaction", additionalProperties: false },
);

/** A hypothetical transaction or order, one of them: `POST /v1/policy/evaluate` says how policy would judge it now. */
export const EvaluatePolicyBody = Type.Object(
  {
    transaction: Type.Optional(EvaluatedTransaction),
    order: Type.Optional(PlaceOrderBody),
    client_id: Type.Optional(
      Type.String({ maxLength: 64, description: "The initiating client. Defaults to the caller." }),
    ),
    at: Type.Optional(
      Timestamp(
        "The time of the request, for rules with hours and for addresses in their waiting period. Defaults to now. Sums are always the present ones.",
      ),
    ),
    document: Type.Optional(PolicyDocument),
  },
  { $id: "EvaluatePolicyBody", additionalProperties: false },
);
export type EvaluatePolicyBody = Static<typeof EvaluatePolicyBody>;

const PolicySum = Type.Object(
  {
    rule: Type.String(),
    measure: OneOf(["sum", "count"]),
    per: OneOf(usageScopes),
    asset: Nullable(Type.String({ description: "Null for a count over all assets." })),
    period_seconds: Type.Integer(),
    before: Type.String({ description: "The present value over the period." }),
    including: Type.String({ description: "The value including this transaction." }),
    limit: Type.String(),
    above: Type.Boolean({ description: "Whether `including` is above `limit`." }),
  },
  { $id: "PolicySum" },
);

export const PolicyEvaluation = Type.Object(
  {
    action: OneOf(policyActions),
    rule: Type.String({ description: "The deciding rule; `default` if none matches." }),
    policy_version: Nullable(
      Type.Integer({ description: "The version in force; null if the request contains a document." }),
    ),
    reason: Nullable(Type.String()),
    decided: OneOf(["at_once", "later"], {
      description:
        "`at_once`: the request that creates it would be refused. `later`: the transaction or order would be rejected after it was accepted.",
    }),
    approval: Nullable(
      Type.Object({
        approvals: Type.Integer(),
        clients: Nullable(Type.Array(Type.String())),
        expires_after_seconds: Type.Integer(),
        signed: Type.Boolean({ description: "Whether an approval must be signed." }),
        people: Type.Boolean({ description: "Whether only people can approve." }),
      }),
    ),
    sums: Type.Array(PolicySum, {
      description: "The sums of the applicable rules, up to the deciding one.",
    }),
  },
  { $id: "PolicyEvaluation" },
);
export type PolicyEvaluation = Static<typeof PolicyEvaluation>;
