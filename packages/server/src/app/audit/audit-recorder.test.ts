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
  it("merges equal refusals into one entry, and nothing else", async () => {
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

  it("is bounded, and reports the number of dropped entries", async () => {
    const written: AuditDraft[] = [];
    const { recorder, errors } = setUp(async (drafts) => void written.push(...drafts));
    for (let count = 0; count < 1500; count++)
      recorder.record(draft({ actor: "client", clientId: `client ${count}` }));
    await recorder.close();
    expect([written.length, errors.map(([, lost]) => lost)]).toEqual([1000, [500]]);
  });

  it("bounds the entries of unauthenticated callers with many addresses", async () => {
    const written: AuditDraft[] = [];
    const { recorder } = setUp(async (drafts) => void written.push(...drafts));
    for (let count = 0; count < 5000; count++) recorder.record(draft({ address: `address ${count}` }));
    await recorder.close();
    expect(written.length).toBeLessThanOrEqual(51);
    expect(written.reduce((sum, { repeated }) => sum + repeated, 0)).toBe(5000);
  });

  it("keeps entries of a failed write for the next one, and writes one batch at a time", async () => {
    const written: AuditDraft[] = [];
    let failures = 1;
    let running = 0;
    const { recorder, errors } = setUp(async (drafts) => {
      running += 1;
      expect(running).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 10));
      running -= 1;
      failures -= 1;
      if (failures === 0) throw new Error("unavailable");
      written.push(...drafts);
    });
    recorder.record(draft({}));
    await new Promise((resolve) => setTimeout(resolve, 700));
    recorder.record(draft({}));
    await recorder.close();
    expect(errors).toMatchObject([[{ message: "unavailable" }, 0]]);
    expect(written.map(({ repeated }) => repeated)).toEqual([2]);
  });
});
