import { type Static, Type } from "typebox";
import { Page, PageQuery } from "../pagination.js";

const Timestamp = Type.String({ format: "date-time" });
const states = ["waiting", "active"] as const;
const Network = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    "The CAIP-2 id of a chain, such as `eip155:1`, or a network that is configured and has addresses.",
});

/** Where money can go on a network. */
export const AddressSide = Type.Object(
  { network: Network, address: Type.String({ minLength: 1, maxLength: 128 }) },
  { additionalProperties: false },
);

export const CreateDestinationBody = Type.Object(
  {
    label: Type.String({ minLength: 1, maxLength: 128 }),
    ...AddressSide.properties,
    note: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  },
  { additionalProperties: false },
);
export type CreateDestinationBody = Static<typeof CreateDestinationBody>;

export const Destination = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("destination"),
    label: Type.String(),
    network: Type.String(),
    address: Type.String({ description: "In the form in which it is compared: lower case on EVM networks." }),
    note: Type.Union([Type.String(), Type.Null()]),
    state: Type.Enum([...states], {
      description: "Policy takes it for a listed address once it is `active`.",
    }),
    created_by: Type.String({ description: "The client that has listed it." }),
    created_at: Timestamp,
    effective_at: Type.String({ format: "date-time", description: "When its waiting time ends." }),
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
    state: Type.Optional(Type.Enum([...states])),
  },
  { additionalProperties: false },
);
