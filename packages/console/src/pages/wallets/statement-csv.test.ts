import type { WalletEntry } from "@bursar/client";
import { expect, it } from "vitest";
import { statementCsv } from "./statement-csv";

it("each row of a statement names the wallet", () => {
  const entry = {
    occurred_at: "t",
    asset: "USD",
    amount: "-5",
    balance: "7",
    cause: "transaction",
    sequence: 3,
  };
  const row = { ...entry, cause_id: "tx_1", reference: "rent" } as WalletEntry;
  expect(statementCsv("wlt_1", [row], (value) => `${value}.00`).split("\r\n")).toEqual([
    "wallet_id,occurred_at,asset,amount,balance,cause,cause_id,reference,sequence",
    "wlt_1,t,USD,-5.00,7.00,transaction,tx_1,rent,3",
    "",
  ]);
});
