import { walletPurposes } from "@bursar/domain";
import { type Static, Type } from "typebox";
import { Page, PageQuery } from "../pagination.js";

const Timestamp = Type.String({ format: "date-time" });
const Purpose = Type.Enum([...walletPurposes]);

export const CreateWalletBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 128 }),
    purpose: Purpose,
    network: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: "`book` where it is left out." }),
    ),
  },
  { additionalProperties: false },
);
export type CreateWalletBody = Static<typeof CreateWalletBody>;

export const Wallet = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("wallet"),
    name: Type.String(),
    purpose: Purpose,
    network: Type.String(),
    role: Type.Union([Type.Enum(["primary", "settlement"]), Type.Null()], {
      description: "Of the two wallets that every tenant is born with.",
    }),
    state: Type.Enum(["creating", "active"]),
    frozen: Type.Boolean({ description: "A frozen wallet sends nothing." }),
    version: Type.Integer(),
    address: Type.Null({ description: "Wallets of the book have none." }),
    balances: Type.Array(
      Type.Object({ asset: Type.String(), available: Type.String(), held: Type.String() }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: "Wallet" },
);
export type Wallet = Static<typeof Wallet>;

export const WalletPage = Page(Wallet, "WalletPage");
export const WalletPath = Type.Object({ id: Type.String() });

export const WalletQuery = Type.Object(
  {
    ...PageQuery.properties,
    purpose: Type.Optional(Purpose),
    state: Type.Optional(Type.Enum(["creating", "active"])),
    network: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    frozen: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
