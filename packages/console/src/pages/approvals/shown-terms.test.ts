import { approvalDigest } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { padded } from "../../ui/values/asset-decimals";
import { readShown, type TermName, withoutValue } from "./shown-terms";

/** The payment of the policy guide, as the page writes it. */
const shown: Record<TermName, string> = {
  tenant: "tnt_01hw000000e008000000000001",
  id: "tx_01hw000000e008000000000001",
  kind: "transfer",
  amount: "12500",
  decimals: "2",
  asset: "USD",
  network: "book",
  source: "wlt_01hw000000e008000000000001",
  destination: "wlt_01hw000000e008000000000002",
  expires_at: withoutValue.expires_at ?? "",
  created_by: "cli_01hw000000e008000000000009",
};
const digestOf = (texts: Record<TermName, string>) => approvalDigest(readShown((name) => texts[name]));

describe("the digest of what a page shows", () => {
  it("is that of the policy guide", async () => {
    const digest = "de4841acff5bf48e6a02370c4368bf425f2eba87cd40d76014b8af441b577d29";
    expect(await digestOf(shown)).toBe(digest);
    expect(await digestOf({ ...shown, amount: padded(shown.amount, 2) })).toBe(digest);
  });

  it.each<[TermName, string]>([
    ["tenant", "tnt_01hw000000e008000000000002"],
    ["id", "tx_01hw000000e008000000000002"],
    ["kind", "payout"],
    ["amount", "1250"],
    ["decimals", "5"],
    ["asset", "EUR"],
    ["network", "eip155:1"],
    ["source", "wlt_01hw000000e008000000000003"],
    ["destination", "0x52908400098527886e0f7030069857d2e4169ee7"],
    ["expires_at", "2026-01-01T12:00:00.000Z"],
    ["created_by", withoutValue.created_by ?? ""],
  ])("changes with the %s", async (name, value) => {
    expect(await digestOf({ ...shown, [name]: value })).not.toBe(await digestOf(shown));
  });

  it.each<[TermName, string]>([
    ["amount", "12 500"],
    ["destination", "wlt_01hw000000e008000000000002 (on the list)"],
    ["source", ""],
    ["created_by", "cli_01hw000000e008000000000001\u200b"],
  ])("is not computed if the %s is %j", async (name, value) => {
    await expect(async () => digestOf({ ...shown, [name]: value })).rejects.toThrow("malformed");
  });
});
