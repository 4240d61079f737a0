import { type Static, Type } from "typebox";
import { CreateTransactionBody, WalletParty } from "./transaction.js";

const { reference, asset, amount, metadata } = CreateTransactionBody.properties;

/** What a transaction takes, with the wallet that is credited. There is no source: the money comes from outside. */
export const CreateDepositBody = Type.Object(
  { reference, asset, amount, destination: WalletParty, metadata },
  { $id: "CreateDepositBody", additionalProperties: false },
);
export type CreateDepositBody = Static<typeof CreateDepositBody>;
