import { expect, it } from "vitest";
import type { AuditDraft } from "../../../app/audit/audit-entry.js";
import { asStored } from "./stored-draft.js";

const draft: AuditDraft = {
  tenantId: undefined,
  occurredAt: new Date(0),
  actor: "client",
  clientId: null,
  tokenId: null,
  action: "client.create",
  object: "one",
  outcome: "succeeded",
  code: null,
  repeated: 1,
  requestId: "req",
  address: null,
};

it("an entry has the values that the database gives back", () => {
  expect(asStored(draft)).toEqual(draft);
  const odd = { ...draft, object: "a\ud83d", reason: "b\u0000", objects: ["", "name:\ude00c d"] };
  expect(asStored(odd)).toEqual({
    ...draft,
    object: "a\ufffd",
    reason: "b\ufffd",
    objects: ["name:\ufffdc%20d"],
  });
});
