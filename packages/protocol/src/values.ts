import { type Static, type TSchema, type TSchemaOptions, Type } from "typebox";

/** The schemas of single values that many resources have. */

export const Timestamp = (description?: string) =>
  Type.String({ format: "date-time", ...(description === undefined ? {} : { description }) });

/** A bound of a filter by time. */
export const TimeFilter = (description: string, example: string) =>
  Type.String({ format: "date-time", description, examples: [example] });

/** The id of a resource in a path. */
export const PathId = (description: string, example: string) =>
  Type.String({ description, examples: [example] });

/** Shown wherever a client remembers sequences. */
export const EpochName = Type.String({
  description:
    "Names the history of the database. It changes when committed data may have been lost: when a standby takes over, or after a restore. In another epoch, sequences and versions can have another meaning.",
});

/**
 * One of these strings. The type is for generators of clients, and for `uniqueItems`: with it, items are compared by hash, without it
 * every item with every other.
 */
export const OneOf = <const Values extends readonly string[]>(values: Values, options: TSchemaOptions = {}) =>
  Type.Enum<[...Values]>([...values], { type: "string", ...options });

/** Some of these strings, in a query: the parameter is repeated for each. */
export const SomeOf = <const Values extends readonly string[]>(values: Values, options: TSchemaOptions) =>
  Type.Array(OneOf(values), { minItems: 1, maxItems: values.length, uniqueItems: true, ...options });

export const Nullable = <Value extends TSchema>(value: Value, description?: string) =>
  Type.Union([value, Type.Null()], description === undefined ? {} : { description });

/** A decimal number in a request. The asset or market decides about its digits; the bound keeps long strings out. */
export const Decimal = (description: string) => Type.String({ minLength: 1, maxLength: 79, description });

/** Strings under names that the client chooses. Not a record: the pattern of its names would let line breaks through. */
export const Strings = (options: {
  additionalProperties: TSchema;
  propertyNames?: TSchemaOptions;
  maxProperties?: number;
  description?: string;
}) => Type.Unsafe<Record<string, string>>({ type: "object", ...options });

export const CreatedBy = Nullable(
  Type.String(),
  "The id of the client that created it; null if the operator or the service did.",
);

export const Actor = Type.Object(
  {
    type: OneOf(["client", "operator", "service"], {
      description:
        "`client`: an API client. `operator`: someone at the command line of the service. `service`: Bursar itself, when it settles, matches or expires something or follows a network.",
    }),
    client_id: Nullable(Type.String(), "Null unless the type is `client`."),
  },
  { $id: "Actor", description: "Who did it." },
);
export type Actor = Static<typeof Actor>;

export const AddedBy = Nullable(
  Type.String(),
  "The id of the client that added it; null if the operator did.",
);

export const Fee = Type.Object(
  { asset: Type.String(), amount: Type.String() },
  { $id: "Fee", description: "An amount of an asset that was charged." },
);

/** Why a transaction or an order did not succeed. */
export const Failure = Type.Object(
  {
    code: Type.String({ description: "Machine-readable, such as `INSUFFICIENT_FUNDS`." }),
    message: Type.String({ description: "Human-readable. It may change; do not parse it." }),
    rule: Type.Optional(Type.String({ description: "The policy rule that rejected it." })),
  },
  { $id: "Failure" },
);
