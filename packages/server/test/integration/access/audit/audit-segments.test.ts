import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { describeAct } from "../../../../src/app/audit/audit-entry.js";
import { signCheckpoint } from "../../../../src/app/audit/checkpoint.js";
import { type ExportRequest, exportSegment } from "../../../../src/app/audit/segments/export-segment.js";
import { createAuditStore } from "../../../../src/store/access/audit.js";
import { createTenantStore } from "../../../../src/store/access/clients.js";
import type { Database } from "../../../../src/store/core/database.js";
import { createSegments, keys, start } from "../../../harness/access/segments.js";
import type { TestDatabase } from "../../../harness/database/test-database.js";

const segments = createSegments();
const {
  newPath,
  append,
  publish,
  deps,
  write,
  prune,
  faultsOfFiles,
  verifyChain,
  linesOf,
  rewrite,
  numbers,
} = segments;

describe("exported segments of the audit log", () => {
  let plain: TestDatabase;
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    ({ plain, database } = await segments.open());
  });
  afterAll(() => segments.close());
  beforeEach(async () => {
    tenantId = await segments.createTenant();
  });

  it("hold a header, the entries and a signed end, and the database is unchanged", async () => {
    const path = await write();
    const lines = linesOf(path).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(12);
    expect(lines[0]).toMatchObject({ object: "audit_segment", first_number: 1, last_number: 10 });
    expect(lines[1]).toMatchObject({ number: 1, action: "tenant.create", object: "o0", key_id: "one" });
    expect(lines.at(-1)).toMatchObject({ object: "audit_segment_end", key_id: "one" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(existsSync(`${path}.partial`)).toBe(false);
    expect(await faultsOfFiles([path])).toEqual([]);
    expect(await numbers()).toHaveLength(10);
  });

  it("end before a number, before a date, and where the newest checkpoint ends", async () => {
    await append(tenantId, 5, 10);
    const last = async (request: Partial<ExportRequest>) =>
      (JSON.parse(linesOf(await write(request))[0] ?? "") as { last_number: number }).last_number;
    expect(await last({})).toBe(10);
    expect(await last({ before: 5n })).toBe(4);
    expect(await last({ before: 14n })).toBe(10);
    expect(await last({ before: new Date(start + 3 * 60_000) })).toBe(3);
    const nothing = await exportSegment(deps(), { tenantId, path: newPath(), before: new Date(start) });
    expect(nothing).toEqual({ fault: expect.stringContaining("there is nothing to export") });
  });

  it("never replace a file, and continue one that was interrupted in the middle of a line", async () => {
    const whole = await write();
    const before = readFileSync(whole);
    expect(await exportSegment(deps(), { tenantId, path: whole })).toEqual({
      fault: expect.stringContaining("exists already"),
    });
    expect(readFileSync(whole)).toEqual(before);
    for (const bytes of [0, 40, 400, before.length - 30]) {
      const path = newPath();
      writeFileSync(`${path}.partial`, before.subarray(0, bytes));
      await append(tenantId, 1, 20);
      await write({ path, before: 11n });
      expect(readFileSync(path)).toEqual(before);
    }
    const path = newPath();
    writeFileSync(`${path}.partial`, before.toString().replace("o1", "o7"));
    expect(await exportSegment(deps(), { tenantId, path })).toEqual({
      fault: expect.stringContaining("cannot be continued: entry 2 was changed"),
    });
  });

  it("are removed from the database, with an entry and a base, and everything still verifies", async () => {
    await append(tenantId, 2500, 10);
    await publish(tenantId);
    const store = createAuditStore(database);
    const [head] = (await store.listHeads()).filter((one) => one.tenantId === tenantId);
    if (head === undefined) throw new Error("the log has no head");
    const checkpoints = [signCheckpoint(keys, head, new Date())];
    const [early] = await store.listAscending(tenantId, 1, 4n);
    if (early === undefined) throw new Error("entry 5 is missing");
    checkpoints.push(signCheckpoint(keys, early, new Date()));
    const first = await write({ before: 2301n });
    expect(await prune(first)).toEqual({ first: 1n, last: 2300n });
    expect(await verifyChain(checkpoints)).toEqual({ fault: undefined, entries: 211n, prunedTo: 2300n });
    const [entry] = await store.list(tenantId, 1, undefined);
    expect(entry).toMatchObject({ action: "audit.prune", object: "entries 1 to 2300", actor: "operator" });
    expect(await store.findRemovedTo(tenantId)).toBe(2300n);
    const second = await write();
    expect(await faultsOfFiles([second, first], checkpoints)).toEqual([]);
    expect(await prune(second)).toEqual({ first: 2301n, last: 2510n });
    expect(await verifyChain(checkpoints)).toMatchObject({ fault: undefined, prunedTo: 2510n });
    expect(await faultsOfFiles([first, second], checkpoints)).toEqual([]);
    expect(await prune(first)).toEqual({ fault: "the entries up to 2510 have been removed before" });
  });

  it("do not end the opt-out of a tenant when its entry is removed", async () => {
    await plain.run(`INSERT INTO tenants (id, name, created_at) VALUES ('${tenantId}', 't', now())`);
    const tenants = createTenantStore(database);
    const audit = describeAct(
      { by: "operator", tenantId },
      "tenant.single_administrator_on",
      "t",
      new Date(),
    );
    expect(await tenants.setSingleAdministrator(tenantId, true, audit)).toBe(true);
    await append(tenantId, 3, 11);
    await publish(tenantId);
    expect(await prune(await write())).toMatchObject({ first: 1n });
    expect(await verifyChain()).toMatchObject({ fault: undefined });
    expect(await tenants.findTenant(tenantId)).toMatchObject({ singleAdministrator: true });
  });

  it("can be written one after the other without removing anything", async () => {
    const first = await write({ before: 4n });
    const second = await write({ afterPath: first, before: 8n });
    const third = await write({ afterPath: second });
    expect(await faultsOfFiles([first, second, third])).toEqual([]);
    expect(await prune(second)).toEqual({
      fault: expect.stringContaining("remove the earlier segment first"),
    });
  });

  const tamperings: [string, (lines: string[]) => string[], string][] = [
    ["an edited entry", (lines) => lines.map((line) => line.replace("o4", "o9")), "entry 5 was changed"],
    ["a missing entry", (lines) => lines.toSpliced(5, 1), "entry 5 is missing"],
    [
      "entries in another order",
      (lines) => lines.toSpliced(5, 2, lines[6] ?? "", lines[5] ?? ""),
      "entry 5 is missing",
    ],
    ["a missing end", (lines) => lines.slice(0, -1), "the file was cut after entry 10"],
    ["a cut tail", (lines) => lines.slice(0, 6), "the file was cut after entry 5"],
    [
      "a cut tail under a header that fits it",
      (lines) => [
        (lines[0] ?? "").replace('"last_number":10', '"last_number":5'),
        ...lines.slice(1, 6),
        lines.at(-1) ?? "",
      ],
      "does not match its signed end",
    ],
    [
      "a removed beginning under a header that fits it",
      (lines) => [
        (lines[0] ?? "")
          .replace('"first_number":1', '"first_number":2')
          .replace(/0{64}/, (JSON.parse(lines[1] ?? "") as { hash: string }).hash),
        ...lines.slice(2),
      ],
      "does not match its signed end",
    ],
    ["an entry after the end", (lines) => [...lines, lines[3] ?? ""], "lines after the signed end"],
    [
      "a forged signature",
      (lines) => lines.with(-1, (lines.at(-1) ?? "").replace(/"time":"\d{4}/, '"time":"2020')),
      "the signature, with the master key one, is invalid",
    ],
    [
      "a line with a second member of the same name",
      (lines) => lines.map((line) => line.replace('"actor"', '"action":"harmless","actor"')),
      "is not an entry",
    ],
    ["a line without end", (lines) => lines.with(3, "x".repeat(200_000)), "a line is longer"],
    ["an empty file", () => [], "does not start with the header"],
  ];
  it.each(tamperings)("show %s, and nothing is removed", async (_what, tamper, fault) => {
    const path = await write();
    await append(tenantId, 1, 20);
    rewrite(path, tamper(linesOf(path)));
    expect(await faultsOfFiles([path])).toEqual([expect.stringContaining(fault)]);
    expect(await prune(path)).toEqual({ fault: expect.stringContaining(fault) });
    expect(await numbers()).toHaveLength(11);
  });

  it("show a gap between files, an overlap, and removed entries that no file has", async () => {
    const first = await write({ before: 4n });
    const second = await write({ afterPath: first, before: 8n });
    const third = await write({ afterPath: second });
    expect(await faultsOfFiles([first, third])).toEqual([
      expect.stringContaining("entries 4 to 7, between it"),
    ]);
    const both = await write({ before: 6n });
    expect(await faultsOfFiles([both, second, third])).toEqual([expect.stringContaining("it overlaps with")]);
    await append(tenantId, 1, 20);
    for (const path of [first, second]) expect(await prune(path)).not.toHaveProperty("fault");
    expect(await faultsOfFiles([first])).toEqual([
      "entries 4 to 7 were removed from the database, and are in none of the files",
    ]);
    expect(await faultsOfFiles([first, second])).toEqual([]);
  });

  it("show a file of another tenant", async () => {
    const other = randomUUID();
    await append(other, 12);
    await publish(other);
    const path = newPath();
    await exportSegment(deps(), { tenantId: other, path });
    await append(other, 1, 20);
    expect(await prune(path)).toEqual({ fault: "the file is of another tenant" });
    // Its header cannot be changed to this tenant either.
    const own = linesOf(await write())[0] ?? "";
    rewrite(path, linesOf(path).with(0, own.replace('"last_number":10', '"last_number":12')));
    expect(await prune(path)).toEqual({ fault: "entry 1 was changed" });
    expect(await numbers()).toHaveLength(10);
  });

  it("show a checkpoint that the file contradicts", async () => {
    const path = await write();
    const position = { tenantId, number: 5n, hash: randomBytes(32) };
    expect(await faultsOfFiles([path], [signCheckpoint(keys, position, new Date())])).toEqual([
      expect.stringContaining("was written again"),
    ]);
  });

  it("are not removed beyond the newest checkpoint", async () => {
    const path = await write();
    await plain.run(`UPDATE audit_heads SET checkpoint_number = 9 WHERE tenant_id = '${tenantId}'`);
    expect(await prune(path)).toEqual({ fault: "no published checkpoint covers entry 10 yet" });
    expect(await numbers()).toHaveLength(10);
  });

  const tamper = (statement: string) =>
    plain.run(
      `ALTER TABLE audit_entries DISABLE TRIGGER ALL; ${statement}; ALTER TABLE audit_entries ENABLE TRIGGER ALL`,
    );

  it("do not hide an entry that was changed or removed in the database after the export", async () => {
    for (const statement of ["UPDATE audit_entries SET action = 'other'", "DELETE FROM audit_entries"]) {
      tenantId = await segments.createTenant();
      const path = await write();
      await append(tenantId, 1, 20);
      await tamper(`${statement} WHERE tenant_id = '${tenantId}' AND number = 4`);
      const kept = (await numbers()).length;
      expect(await prune(path)).toEqual({
        fault: expect.stringContaining("entry 4 in the database is not the one in the file"),
      });
      expect(await numbers()).toHaveLength(kept);
      expect((await verifyChain()).fault).toBeDefined();
    }
  });

  it("are not written from a log that was tampered with", async () => {
    await tamper(`UPDATE audit_entries SET action = 'other' WHERE tenant_id = '${tenantId}' AND number = 4`);
    const path = newPath();
    expect(await exportSegment(deps(), { tenantId, path })).toEqual({ fault: "entry 4 was changed" });
    expect(existsSync(path)).toBe(false);
    await plain.run(`UPDATE audit_heads SET number = 9 WHERE tenant_id = '${tenantId}'`);
    expect(await exportSegment(deps(), { tenantId, path: newPath() })).toEqual({
      fault: "the head of the chain was changed",
    });
  });

  it("show a base that was forged, or taken from another tenant, to remove more", async () => {
    const path = await write({ before: 5n });
    await prune(path);
    await tamper(
      `DELETE FROM audit_entries WHERE tenant_id = '${tenantId}' AND number = 5;
       UPDATE audit_bases SET number = 5, hash = decode('${"ab".repeat(32)}', 'hex') WHERE tenant_id = '${tenantId}'`,
    );
    expect((await verifyChain()).fault).toContain("up to 5 were exported and removed is forged");
    await tamper(`DELETE FROM audit_bases WHERE tenant_id = '${tenantId}'`);
    expect((await verifyChain()).fault).toContain("entry 1 is missing");
  });

  it("are removed by one of two commands that run at once", async () => {
    await append(tenantId, 3000, 10);
    await publish(tenantId);
    const path = await write();
    await append(tenantId, 1, 5000);
    const results = await Promise.allSettled([prune(path), prune(path)]);
    const removed = results.filter(
      (result) => result.status === "fulfilled" && !("fault" in result.value),
    ).length;
    expect(removed).toBeLessThanOrEqual(1);
    if (removed === 0) expect(await prune(path)).not.toHaveProperty("fault");
    expect(await verifyChain()).toMatchObject({ fault: undefined, prunedTo: 3010n });
  });
});
