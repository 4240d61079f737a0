import { type Static, Type } from "typebox";
import { Page, PageQuery } from "../pagination.js";
import { Nullable, Timestamp } from "../values.js";

const State = Type.Enum(["waiting", "active"]);

/** An address together with its network. */
export const NetworkAddress = Type.Object(
  {
    network: Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        "The CAIP-2 id of a chain, such as `eip155:1`, or a configured network that has addresses.",
    }),
    address: Type.String({ minLength: 1, maxLength: 128 }),
  },
  { $id: "NetworkAddress", additionalProperties: false },
);

export const CreateDestinationBody = Type.Object(
  {
    label: Type.String({ minLength: 1, maxLength: 128 }),
    ...NetworkAddress.properties,
    note: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  },
  { $id: "CreateDestinationBody", additionalProperties: false },
);
export type CreateDestinationBody = Static<typeof CreateDestinationBody>;

export const Destination = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("destination"),
    label: Type.String(),
    network: Type.String(),
    address: Type.String({ description: "In the form used for comparison: lower case on EVM networks." }),
    note: Nullable(Type.String()),
    state: Type.Enum(["waiting", "active"], {
      description: "Policy treats it as a listed address once it is `active`.",
    }),
    created_by: Type.String({ description: "The id of the client that listed it." }),
    created_at: Timestamp(),
    effective_at: Timestamp("The end of its waiting period."),
  },
  { $id: "Destination" },
);
export type Destination = Static<typeof Destination>;

export const DestinationPage = Page(Destination, "DestinationPage");
export const DestinationPath = Type.Object({ id: Type.String() });

export const DestinationQuery = Type.Object(
  {
    ...PageQuery.properties,
    network: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    state: Type.Optional(State),
  },
  { additionalProperties: false },
);
