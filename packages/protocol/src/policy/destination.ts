import { type Static, Type } from "typebox";
import { exampleIds } from "../examples/example-ids.js";
import { Page, PageQuery } from "../pagination.js";
import { Nullable, OneOf, PathId, Timestamp } from "../values.js";
import { VisibleLine, VisibleText } from "../visible-text.js";

const stateNames = ["waiting", "active"] as const;

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
    label: VisibleLine(128),
    ...NetworkAddress.properties,
    note: Type.Optional(VisibleText(512)),
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
    state: OneOf(stateNames, {
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
export const DestinationPath = Type.Object({
  id: PathId("The id of the destination.", exampleIds.destination),
});

export const DestinationQuery = Type.Object(
  {
    ...PageQuery("destinations").properties,
    network: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: "Only addresses of this network.",
        examples: ["eip155:1"],
      }),
    ),
    address: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description:
          "Only this address of `network`, which must be given with it. On EVM networks in any case.",
        examples: ["0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"],
      }),
    ),
    state: Type.Optional(
      OneOf(stateNames, { description: "Only destinations in this state.", examples: ["active"] }),
    ),
  },
  { additionalProperties: false },
);
