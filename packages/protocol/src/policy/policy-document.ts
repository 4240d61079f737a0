import { destinationKinds, policyActions, policyLimits, usageScopes, walletPurposes } from "@bursar/domain";
import { type Static, type TSchema, Type } from "typebox";

/**
 * The document of `PUT /v1/policy`. The schema has the shape and the bounds; what it cannot say (an asset that is known, an amount that
 * fits it, members that go with an action) is said by the domain's `compilePolicy`, which refuses all that this refuses.
 */
const { itemsMax, textLengthMax } = policyLimits;

const Name = Type.String({
  pattern: policyLimits.namePattern,
  description: "1 to 64 characters of a-z, 0-9 and -.",
});
// The items of a list say that they are texts, so that the check for repeated ones is by hash and not pair by pair.
const listOf = <Item extends TSchema>(item: Item, description?: string) =>
  Type.Array(item, {
    minItems: 1,
    maxItems: itemsMax,
    uniqueItems: true,
    ...(description === undefined ? {} : { description }),
  });
const AssetName = Type.String({
  minLength: 1,
  maxLength: textLengthMax,
  description: "A code of `GET /v1/assets`, or a CAIP-19 id.",
});
const Amount = Type.String({ minLength: 1, maxLength: policyLimits.amountLengthMax });
const ClientIds = listOf(Type.String({ pattern: "^cli_[0-9a-hjkmnp-tv-z]{26}$" }));

const windowFields = {
  per: Type.Enum([...usageScopes], {
    description:
      "Whose transactions are added up: of the source wallet, the initiating client, or the tenant.",
  }),
  period_seconds: Type.Integer({
    minimum: policyLimits.periodSecondsMin,
    maximum: policyLimits.periodSecondsMax,
  }),
};

const AmountRange = Type.Object(
  {
    asset: AssetName,
    min: Type.Optional(Amount),
    max: Type.Optional(Amount),
  },
  {
    additionalProperties: false,
    description: "Both bounds are within the range. The rule is for this asset alone.",
  },
);
const Hours = Type.Object(
  {
    from: Type.Integer({ minimum: 0, maximum: 23 }),
    to: Type.Integer({ minimum: 0, maximum: 24 }),
    time_zone: Type.String({
      minLength: 1,
      maxLength: textLengthMax,
      description: "Of the time zone database, such as `Europe/Berlin`.",
    }),
  },
  {
    additionalProperties: false,
    description:
      "Of the request: from this hour until before that one, over midnight where it is not greater.",
  },
);
const SumLimit = Type.Object(
  { asset: AssetName, ...windowFields, above: Amount },
  {
    additionalProperties: false,
    description: "Matches where the sum over the period, this transaction included, is above the limit.",
  },
);
const CountLimit = Type.Object(
  {
    asset: Type.Optional(AssetName),
    ...windowFields,
    above: Type.Integer({ minimum: 1, maximum: policyLimits.countMax }),
  },
  {
    additionalProperties: false,
    description: "The same for the number of transactions, of all assets where none is named.",
  },
);

const Condition = Type.Object(
  {
    assets: Type.Optional(listOf(AssetName)),
    networks: Type.Optional(listOf(Type.String({ minLength: 1, maxLength: textLengthMax }))),
    amount: Type.Optional(AmountRange),
    source_wallets: Type.Optional(listOf(Type.String({ pattern: "^wlt_[0-9a-hjkmnp-tv-z]{26}$" }))),
    source_purposes: Type.Optional(listOf(Type.Enum([...walletPurposes], { type: "string" }))),
    destinations: Type.Optional(
      listOf(
        Type.Enum([...destinationKinds], { type: "string" }),
        "`address` is any address, and so also a listed one.",
      ),
    ),
    clients: Type.Optional(ClientIds),
    hours: Type.Optional(Hours),
    sum: Type.Optional(SumLimit),
    count: Type.Optional(CountLimit),
  },
  {
    additionalProperties: false,
    description: "All members that are given must match, and a list matches with any of its items.",
  },
);

// One form for all actions and not a union of three: of a union a validator can only say that no branch fits.
const actionFields = {
  action: Type.Enum([...policyActions]),
  reason: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: policyLimits.reasonLengthMax,
      description: "With `reject`, and required there: the client may see it.",
    }),
  ),
  approvals: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: policyLimits.approvalsMax,
      description: "With `require_approval`, and required there: how many. The initiator never approves.",
    }),
  ),
  from: Type.Optional(
    Type.Object(
      {
        clients: Type.Optional(ClientIds),
        groups: Type.Optional(
          Type.Array(Name, { minItems: 1, maxItems: policyLimits.groupsMax, uniqueItems: true }),
        ),
      },
      {
        additionalProperties: false,
        minProperties: 1,
        description:
          "With `require_approval`: who may approve. Any client with the scope where it is left out.",
      },
    ),
  ),
  expires_after_seconds: Type.Optional(
    Type.Integer({
      minimum: policyLimits.expirySecondsMin,
      maximum: policyLimits.expirySecondsMax,
      description: "With `require_approval`: one day where it is left out.",
    }),
  ),
};

export const PolicyDocument = Type.Object(
  {
    rules: Type.Array(
      Type.Object({ name: Name, when: Condition, ...actionFields }, { additionalProperties: false }),
      {
        maxItems: policyLimits.rulesMax,
        description: "Tried in order; the first that matches decides. Their names differ.",
      },
    ),
    default: Type.Object(actionFields, {
      additionalProperties: false,
      description: "Decides where no rule matches.",
    }),
    groups: Type.Optional(
      Type.Record(Name, ClientIds, {
        maxProperties: policyLimits.groupsMax,
        additionalProperties: false,
        description: "Clients under a name, for `from`.",
      }),
    ),
  },
  { $id: "PolicyDocument", additionalProperties: false },
);
export type PolicyDocument = Static<typeof PolicyDocument>;

/** Its name in place of it: it is long, and stands in several schemas. */
export const PolicyDocumentRef = Type.Unsafe<PolicyDocument>(Type.Ref("PolicyDocument"));
