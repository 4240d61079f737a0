import { type Static, Type } from "typebox";
import { OneOf } from "../values.js";
import type { Scope } from "./scopes.js";

/** What these scopes read names clients by their ids. */
export const clientNameScopes = [
  "transactions:read",
  "transactions:approve",
  "wallets:read",
  "orders:read",
  "events:read",
  "policies:read",
  "audit:read",
  "clients:manage",
] as const satisfies readonly Scope[];

export const ClientName = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("client_name"),
    kind: OneOf(["program", "person"]),
    name: Type.String({ description: "It is chosen by those who manage clients, and need not be unique." }),
  },
  { $id: "ClientName" },
);
export type ClientName = Static<typeof ClientName>;
