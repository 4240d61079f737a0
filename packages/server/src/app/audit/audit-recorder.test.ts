import { describe, expect, it } from "vitest";
import type { AuditDraft, AuditStore } from "./audit-entry.js";
import { createAuditRecorder } from "./audit-recorder.js";

const draft = (changed: Partial<AuditDraft>): AuditDraft => ({
  tenantId: undefined,
  occurredAt: new Date(0),
  actor: "anonymous",
  clientId: null,
  tokenId: null,
  action: "GET /v1/clients",
  object: null,
  outcome: "refused",
  code: "UNAUTHENTICATED",
  repeated: 1,
  requestId: "1",
  address: "192.0.2.1",
  ...changed,
});

function setUp(append: AuditStore["append"]) {
  const errors: [unknown, number][] = [];
  const recorder = createAuditRecorder({
    store: { append } as AuditStore,
    onError: (error, lost) => errors.push([error, lost]),
  });
  return { recorder, errors };
}

describe("recording", () => {
  it("makes one entry of equal refusals, and one each of everything else", async () => {
    const written: AuditDraft[] = [];
    const { recorder } = setUp(async (drafts) => void written.push(...drafts));
    for (let count = 0; count < 100; count++) recorder.record(draft({ requestId: String(count) }));
    recorder.record(draft({ address: "192.0.2.2" }));
    recorder.record(draft({ outcome: "succeeded", action: "token.issue" }));
    recorder.record(draft({ outcome: "succeeded", action: "token.issue" }));
    await recorder.close();
    expect(written.map(({ action, repeated }) => [action, repeated])).toEqual([
      ["GET /v1/clients", 100],
      ["GET /v1/clients", 1],
      ["token.issue", 1],
      ["token.issue", 1],
    ]);
  });

  it("has a bound, and says what it has let go", async () => {
    const written: AuditDraft[] = [];
    const { recorder, errors } = setUp(async (drafts) => void written.push(...drafts));
    for (let count = 0; count < 1500; count++) recorder.record(draft({ address: `address ${count}` }));
    await recorder.close();
    expect([written.length, errors.map(([, lost]) => lost)]).toEqual([1000, [500]]);
  });

  it("says when it could not write", async () => {
    const { recorder, errors } = setUp(async () => {
      throw new Error("away");
    });
    recorder.record(draft({}));
    await recorder.close();
    expect(errors).toMatchObject([[{ message: "away" }, 1]]);
  });
});
