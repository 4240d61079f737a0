import { expect, it } from "vitest";
import { chainHash, chainStart } from "./audit-chain.js";
import type { AuditDraft } from "./audit-entry.js";

it("an entry has the same hash when it is written and when it is read, with null for missing fields", () => {
  const entry: AuditDraft = {
    tenantId: "t",
    occurredAt: new Date(0),
    actor: "client",
    clientId: "c",
    tokenId: null,
    action: "client.create",
    object: "o",
    outcome: "succeeded",
    code: null,
    repeated: 1,
    requestId: "r",
    address: null,
  };
  const written = { ...entry, address: undefined, tokenId: undefined } as unknown as AuditDraft;
  expect(chainHash(chainStart, 1n, written)).toEqual(chainHash(chainStart, 1n, entry));
  expect(chainHash(chainStart, 1n, entry)).not.toEqual(chainHash(chainStart, 1n, { ...entry, address: "a" }));
});
