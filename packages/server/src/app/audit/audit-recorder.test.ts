import { describe, expect, it } from "vitest";
import type { AuditDraft, AuditStore, AuditWrite, ClientOrigin } from "./audit-entry.js";
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

const refusalOf = (tenantId: string, count: number) =>
  draft({ tenantId, actor: "client", clientId: "c", object: `object ${count}`, code: "INSUFFICIENT_SCOPE" });

const origin = (tenantId: string, address = "192.0.2.1"): ClientOrigin => ({
  by: "client",
  principal: { tenantId, clientId: "c", tokenId: "t", scopes: new Set() },
  requestId: "r",
  address,
});

class LostAnswer extends Error {}

function setUp(append: AuditStore["append"]) {
  const errors: [unknown, number][] = [];
  const recorder = createAuditRecorder({
    store: { append },
    classify: (error) => (error instanceof LostAnswer ? "unknown" : "failed"),
    writerId: "writer",
    onError: (error, lost) => errors.push([error, lost]),
    now: () => 0,
  });
  return { recorder, errors };
}

/** Records, and returns what was written by the end. */
async function writtenBy(record: (recorder: ReturnType<typeof createAuditRecorder>) => void) {
  const written: AuditDraft[] = [];
  const { recorder } = setUp(async (drafts) => void written.push(...drafts));
  record(recorder);
  await recorder.close();
  return written;
}

describe("recording", () => {
  it("merges equal refusals into one entry, and nothing else", async () => {
    const written = await writtenBy((recorder) => {
      for (let count = 0; count < 100; count++) recorder.record(draft({ requestId: String(count) }));
      recorder.record(draft({ address: "192.0.2.2" }));
      recorder.record(draft({ outcome: "succeeded", action: "token.issue" }));
      recorder.record(draft({ outcome: "succeeded", action: "token.issue" }));
    });
    expect(written.map(({ action, repeated }) => [action, repeated])).toEqual([
      ["GET /v1/clients", 100],
      ["GET /v1/clients", 1],
      ["token.issue", 1],
      ["token.issue", 1],
    ]);
  });

  it("makes one entry of what a client did with one token from one address, a hundred objects at most", async () => {
    const written = await writtenBy((recorder) => {
      for (let count = 0; count < 250; count++)
        recorder.recordAct(origin("a"), "transaction.create", `tx_${count}`);
      recorder.recordAct(origin("a", "192.0.2.2"), "transaction.create", "tx_elsewhere");
      recorder.recordAct(origin("a"), "transaction.cancel", "tx_1");
    });
    expect(
      written.map(({ action, object, objects, repeated }) => [action, object, objects?.length, repeated]),
    ).toEqual([
      ["transaction.create", null, 100, 100],
      ["transaction.create", null, 100, 100],
      ["transaction.create", null, 50, 50],
      ["transaction.create", "tx_elsewhere", undefined, 1],
      ["transaction.cancel", "tx_1", undefined, 1],
    ]);
    expect(written[0]?.objects?.[99]).toBe("tx_99");
  });

  it("writes the number of entries that a tenant had too many, in that tenant's log", async () => {
    const written = await writtenBy((recorder) => {
      for (let count = 0; count < 1500; count++)
        recorder.record({ ...refusalOf("a", count), clientId: `client ${count}` });
    });
    const dropped = written.filter(({ action }) => action === "audit.dropped");
    expect(dropped.every(({ tenantId, actor }) => tenantId === "a" && actor === "service")).toBe(true);
    // Of fifty clients, and of all others together.
    expect(dropped).toHaveLength(51);
    expect(dropped.at(-1)).toMatchObject({ clientId: null, objects: ["GET:/v1/clients:INSUFFICIENT_SCOPE"] });
    expect(written.reduce((sum, { repeated }) => sum + repeated, 0)).toBe(1500);
    expect(written.length).toBeLessThan(600);
  });

  it("keeps every entry of a tenant while others flood the buffer", async () => {
    let release: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const written: AuditDraft[] = [];
    const { recorder } = setUp(async (drafts) => {
      await blocked;
      written.push(...drafts);
    });
    // The database is slow, so that everything has to wait in the buffer.
    recorder.record(refusalOf("first", 0));
    for (let tenant = 0; tenant < 30; tenant++)
      for (let count = 0; count < 1000; count++)
        recorder.record({ ...refusalOf(`flood ${tenant}`, count), clientId: `client ${count}` });
    for (let count = 0; count < 50; count++) recorder.record(refusalOf("quiet", count));
    recorder.recordAct(origin("quiet"), "transaction.create", "tx_1");
    release();
    await recorder.close();
    const quiet = written.filter(({ tenantId }) => tenantId === "quiet");
    expect(quiet).toHaveLength(51);
    expect(written.reduce((sum, { repeated }) => sum + repeated, 0)).toBe(30_052);
  });

  it("keeps room for what a tenant's clients did while others are refused all the time", async () => {
    const written = await writtenBy((recorder) => {
      for (let count = 0; count < 1000; count++)
        recorder.record({ ...refusalOf("a", count), clientId: `client ${count}` });
      recorder.recordAct(origin("a"), "transaction.create", "tx_1");
    });
    expect(written.some(({ object }) => object === "tx_1")).toBe(true);
  });

  it("keeps the refusals of a client while another client of its tenant is refused all the time", async () => {
    const written = await writtenBy((recorder) => {
      for (let count = 0; count < 1500; count++) recorder.record(refusalOf("a", count));
      for (let count = 0; count < 20; count++)
        recorder.record({ ...refusalOf("a", count), clientId: "quiet", action: "POST /v1/approvals" });
      recorder.record({ ...refusalOf("a", 0), action: "POST /v1/approvals" });
    });
    expect(written.filter(({ clientId }) => clientId === "quiet")).toHaveLength(20);
    expect(written.filter(({ action }) => action === "audit.dropped")).toEqual([]);
    const flood = written.filter(({ clientId }) => clientId === "c");
    expect(flood).toHaveLength(52);
    expect(flood.slice(-2)).toMatchObject([
      { action: "GET /v1/clients", object: null, repeated: 1450 },
      { action: "POST /v1/approvals", object: null, repeated: 1 },
    ]);
  });

  it("names each client whose entries were too many, and everything that it tried", async () => {
    const flood = (recorder: ReturnType<typeof createAuditRecorder>, clientId: string) => {
      for (let count = 0; count < 60; count++) recorder.record({ ...refusalOf("a", count), clientId });
      for (let count = 0; count < 250; count++)
        recorder.record({ ...refusalOf("a", 0), clientId, action: `GET /v1/${count}` });
      recorder.record({ ...refusalOf("a", 0), clientId, action: "PUT /v1/policy" });
    };
    const written = await writtenBy((recorder) => {
      for (const clientId of ["c", "d"]) flood(recorder, clientId);
    });
    expect(written.reduce((sum, { repeated }) => sum + repeated, 0)).toBe(622);
    for (const clientId of ["c", "d"]) {
      const dropped = written.filter(
        (entry) => entry.action === "audit.dropped" && entry.clientId === clientId,
      );
      expect(dropped.map(({ objects }) => objects?.length)).toEqual([100, 100, 2]);
      const tried = [...written.filter((entry) => entry.clientId === clientId)].flatMap(
        ({ action, objects }) => objects ?? [action],
      );
      expect(tried).toContain("PUT:/v1/policy:INSUFFICIENT_SCOPE");
    }
    expect(written.every(({ objects }) => (objects?.length ?? 0) <= 100)).toBe(true);
  });

  it("keeps what was tried when it could not be written at first", async () => {
    const written: AuditDraft[] = [];
    let failures = 1;
    const { recorder } = setUp(async (drafts) => {
      failures -= 1;
      if (failures === 0) throw new Error("unavailable");
      written.push(...drafts);
    });
    for (let count = 0; count < 300; count++)
      recorder.record({ ...refusalOf("a", 0), action: `GET /v1/${count}` });
    await new Promise((resolve) => setTimeout(resolve, 700));
    await recorder.close();
    const tried = new Set(written.flatMap(({ action, objects }) => objects ?? [action]));
    expect(tried).toContain("GET:/v1/299:INSUFFICIENT_SCOPE");
    expect(written.reduce((sum, { repeated }) => sum + repeated, 0)).toBe(300);
  });

  it("bounds the entries of unauthenticated callers with many addresses", async () => {
    const written = await writtenBy((recorder) => {
      for (let count = 0; count < 5000; count++) recorder.record(draft({ address: `address ${count}` }));
    });
    expect(written.length).toBeLessThanOrEqual(51);
    expect(written.reduce((sum, { repeated }) => sum + repeated, 0)).toBe(5000);
  });

  it("says whom a login was about, and from where, behind the noise of another address", async () => {
    const login = { tenantId: "a", action: "session.open", code: "PASSKEY_INVALID" };
    const written = await writtenBy((recorder) => {
      for (let count = 0; count < 12; count++) recorder.record(draft({ ...login, object: `cli_${count}` }));
      recorder.record(draft({ ...login, object: "cli_grace", address: "198.51.100.1" }));
      recorder.record(draft({ ...login, object: "cli_grace" }));
    });
    expect(written.slice(-2).map(({ object, address }) => [object, address])).toEqual([
      ["cli_grace", "198.51.100.1"],
      ["cli_grace", null],
    ]);
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

  it("writes the entries of the other tenants if those of one cannot be written", async () => {
    const written: AuditDraft[] = [];
    const { recorder, errors } = setUp(async (drafts) => {
      if (drafts.some(({ tenantId }) => tenantId === "locked")) throw new Error("locked");
      written.push(...drafts);
    });
    recorder.record(refusalOf("locked", 0));
    recorder.record(refusalOf("a", 0));
    await recorder.close();
    expect(written).toMatchObject([{ tenantId: "a" }]);
    expect(errors.at(-1)).toMatchObject([{ message: "the service has stopped" }, 1]);
  });

  it("writes at most a hundred tenants with one commit", async () => {
    const counts: number[] = [];
    const { recorder } = setUp(
      async (drafts) => void counts.push(new Set(drafts.map(({ tenantId }) => tenantId)).size),
    );
    for (let tenant = 0; tenant < 250; tenant++) recorder.record(refusalOf(`tenant ${tenant}`, 0));
    await recorder.close();
    expect(counts).toEqual([100, 100, 50]);
  });

  it("repeats a write as it was if its outcome is unknown, whatever is recorded meanwhile", async () => {
    const writes: { repeated: number[]; write: AuditWrite | undefined }[] = [];
    const { recorder, errors } = setUp(async (drafts, write) => {
      writes.push({ repeated: drafts.map(({ repeated }) => repeated), write });
      if (writes.length < 3) throw new LostAnswer("lost");
    });
    recorder.record(draft({}));
    await new Promise((resolve) => setTimeout(resolve, 700));
    recorder.record(draft({}));
    recorder.record(draft({}));
    await recorder.close();
    const first = { writerId: "writer", number: 1, settledBelow: 1 };
    const second = { writerId: "writer", number: 2, settledBelow: 1 };
    expect(writes).toEqual([
      { repeated: [1], write: { ...first, attempts: [] } },
      { repeated: [1], write: { ...first, attempts: [] } },
      { repeated: [2], write: { ...second, attempts: [] } },
      { repeated: [1], write: { ...first, attempts: [] } },
    ]);
    expect(errors).toMatchObject([
      [{ message: "lost" }, 0],
      [{ message: "lost" }, 0],
    ]);
  });
});
