import {
  destinationKinds,
  policyActions,
  policyLimits,
  requestKinds,
  usageScopes,
  walletPurposes,
} from "@bursar/domain";
import { type Static, type TSchema, Type } from "typebox";
import { OneOf } from "../values.js";

/**
 * The document of `PUT /v1/policy`. The schema has the shape and the bounds. What it cannot express (that an asset exists, that an
 * amount fits it, which members an action needs) is checked by the domain's `compilePolicy`, which also refuses all that this refuses.
 */
const { itemsMax, textLengthMax } = policyLimits;

export const policyDocumentBytesMax = policyLimits.documentBytesMax;

const Name = Type.String({
  pattern: policyLimits.namePattern,
  description: "1 to 64 characters of a-z, 0-9 and -.",
});
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
  description: "An asset code of `GET /v1/assets`, or a CAIP-19 id.",
});
const Amount = Type.String({ minLength: 1, maxLength: policyLimits.amountLengthMax });
const ClientIds = listOf(Type.String({ pattern: "^cli_[0-9a-hjkmnp-tv-z]{26}$" }));

const windowFields = {
  per: OneOf(usageScopes, {
    description:
      "Whose transactions are added up: those of the source wallet, of the initiating client, or of the tenant.",
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
    description: "Both bounds are inclusive. The rule applies to this asset only.",
  },
);
const Hours = Type.Object(
  {
    from: Type.Integer({ minimum: 0, maximum: 23 }),
    to: Type.Integer({ minimum: 0, maximum: 24 }),
    time_zone: Type.String({
      minLength: 1,
      maxLength: textLengthMax,
      description: "A name of the IANA time zone database, such as `Europe/Berlin`.",
    }),
  },
  {
    additionalProperties: false,
    description:
      "The hours of the request: from `from` up to but excluding `to`, across midnight if `to` is not greater.",
  },
);
const SumLimit = Type.Object(
  { asset: AssetName, ...windowFields, above: Amount },
  {
    additionalProperties: false,
    description: "Matches if the sum over the period, including this transaction, is above the limit.",
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
    description: "The same for the number of transactions; of all assets if none is named.",
  },
);

const Condition = Type.Object(
  {
    kind: Type.Optional(
      OneOf(requestKinds, { description: "Transactions or orders only. Defaults to both." }),
    ),
    markets: Type.Optional(
      listOf(
        Type.String({ minLength: 1, maxLength: textLengthMax }),
        "Orders in these markets, such as `ETH-USD`.",
      ),
    ),
    assets: Type.Optional(listOf(AssetName)),
    networks: Type.Optional(listOf(Type.String({ minLength: 1, maxLength: textLengthMax }))),
    amount: Type.Optional(AmountRange),
    source_wallets: Type.Optional(listOf(Type.String({ pattern: "^wlt_[0-9a-hjkmnp-tv-z]{26}$" }))),
    source_purposes: Type.Optional(listOf(OneOf(walletPurposes))),
    destinations: Type.Optional(
      listOf(
        OneOf(destinationKinds),
        "`address` is any address, including a listed one. `market` is the destination of every order.",
      ),
    ),
    clients: Type.Optional(ClientIds),
    hours: Type.Optional(Hours),
    sum: Type.Optional(SumLimit),
    count: Type.Optional(CountLimit),
  },
  {
    additionalProperties: false,
    description: "All given members must match; a list matches if any of its items does.",
  },
);

const Approvers = (description: string) =>
  Type.Object(
    {
      clients: Type.Optional(ClientIds),
      groups: Type.Optional(
        Type.Array(Name, { minItems: 1, maxItems: policyLimits.groupsMax, uniqueItems: true }),
      ),
    },
    { additionalProperties: false, minProperties: 1, description },
  );

// One object for all actions rather than a union of three: its faults are easier to name.
const actionFields = {
  action: OneOf(policyActions),
  reason: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: policyLimits.reasonLengthMax,
      description: "Required with `reject`; visible to the client.",
    }),
  ),
  approvals: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: policyLimits.approvalsMax,
      description: "Required with `require_approval`: the number of approvals. The initiator cannot approve.",
    }),
  ),
  from: Type.Optional(
    Approvers("With `require_approval`: who may approve. Defaults to any client with the scope."),
  ),
  expires_after_seconds: Type.Optional(
    Type.Integer({
      minimum: policyLimits.expirySecondsMin,
      maximum: policyLimits.expirySecondsMax,
      description: "With `require_approval`. Defaults to one day.",
    }),
  ),
  signed: Type.Optional(
    Type.Boolean({
      description:
        "With `require_approval`: an approval must be signed (RFC 9421) with an Ed25519 key of the approver, or confirmed with a passkey. A rejection need not be.",
    }),
  ),
  people: Type.Optional(
    Type.Boolean({
      description:
        "With `require_approval`: only people approve, each with a passkey, and no programs. A program can still reject.",
    }),
  ),
};

export const PolicyDocument = Type.Object(
  {
    rules: Type.Array(
      Type.Object({ name: Name, when: Condition, ...actionFields }, { additionalProperties: false }),
      {
        maxItems: policyLimits.rulesMax,
        description: "Evaluated in order; the first match decides. Names are unique.",
      },
    ),
    default: Type.Object(actionFields, {
      additionalProperties: false,
      description: "Decides if no rule matches.",
    }),
    groups: Type.Optional(
      Type.Record(Name, ClientIds, {
        maxProperties: policyLimits.groupsMax,
        additionalProperties: false,
        description: "Named lists of clients, for `from`.",
      }),
    ),
    changes: Type.Optional(
      Type.Object(
        {
          approvals: Type.Integer({ minimum: 1, maximum: policyLimits.approvalsMax }),
          from: Type.Optional(
            Approvers(
              "Who may approve. Defaults to any protected client that is independent of the requester.",
            ),
          ),
          policy: Type.Optional(
            Type.Boolean({
              description: "Whether changes that loosen the policy need approval. Defaults to true.",
            }),
          ),
          destinations: Type.Optional(
            Type.Boolean({
              description: "Whether adding and removing destinations needs approval. Defaults to true.",
            }),
          ),
          delay_seconds: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: policyLimits.changeDelaySecondsMax,
              description:
                "How long an approved change that loosens the policy waits, and how long a new destination waits at least. Defaults to 0.",
            }),
          ),
        },
        {
          additionalProperties: false,
          description: "Who must approve changes of the policy and of destinations.",
        },
      ),
    ),
  },
  { $id: "PolicyDocument", additionalProperties: false },
);
export type PolicyDocument = Static<typeof PolicyDocument>;
