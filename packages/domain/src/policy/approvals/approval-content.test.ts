import { describe, expect, it } from "vitest";
import { type ApprovedTransaction, approvalContent } from "./approval-content.js";

const transaction: ApprovedTransaction = {
  tenantId: "tnt_1",
  transactionId: "tx_1",
  kind: "transfer",
  asset: "USD",
  network: "book",
  amount: 12_550n,
  decimals: 2,
  sourceWalletId: "wlt_1",
  destination: { walletId: "wlt_2" },
  expiresAt: null,
  createdBy: "cli_1",
};

describe("the content of an approval", () => {
  it("is canonical JSON, with sorted keys and the amount in base units", () => {
    expect(approvalContent(transaction)).toBe(
      '{"amount":"12550","asset":"USD","created_by":"cli_1","decimals":2,"destination":{"wallet_id":"wlt_2"},"expires_at":null,' +
        '"kind":"transfer","network":"book","source":{"wallet_id":"wlt_1"},"tenant_id":"tnt_1","transaction_id":"tx_1",' +
        '"type":"bursar.approval.v3"}',
    );
  });

  it("changes with every field that determines where the money goes", () => {
    const others: Partial<ApprovedTransaction>[] = [
      { tenantId: "tnt_2" },
      { transactionId: "tx_2" },
      { kind: "withdrawal" },
      { asset: "ETH" },
      { network: "eip155:1" },
      { amount: 12_551n },
      { decimals: 5 },
      { sourceWalletId: "wlt_3" },
      { destination: { walletId: "wlt_3" } },
      { destination: { address: "wlt_2" } },
      { expiresAt: "2026-01-01T00:00:00.000Z" },
      { createdBy: "cli_2" },
    ];
    const texts = [transaction, ...others.map((other) => ({ ...transaction, ...other }))].map(
      approvalContent,
    );
    expect(new Set(texts).size).toBe(Object.keys(transaction).length + 2);
  });
});
