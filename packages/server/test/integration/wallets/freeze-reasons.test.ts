import type { AuditEntry, Event } from "@bursar/protocol";
import { readId } from "@bursar/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { entryLine, readEntry } from "../../../src/app/audit/segments/segment.js";
import { createAuditStore } from "../../../src/store/access/audit.js";
import { sql } from "../../../src/store/core/sql.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

const service = await inspectSharedService();

interface ShownWallet {
  id: string;
  frozen: boolean;
  frozen_reason: string | null;
  version: number;
}

const foreign = "lost key \u202e<b>drow\u200b</b>\n'; --";

describe("the reason of a freeze", () => {
  let api: ReturnType<typeof transactionsOf>;
  let id: string;
  let tenantId: string;
  beforeAll(async () => {
    const client = await service.createTenant("100");
    tenantId = readId("tnt", client.tenantId) ?? "";
    api = transactionsOf(service, await service.token(client));
    id = (await read<ShownWallet>("/v1/wallets?purpose=treasury&limit=1")).data[0]?.id ?? "";
  });

  const read = async <Item>(path: string) =>
    (await api.send("GET", path)).body as unknown as { data: Item[] };
  const act = async (verb: string, body?: unknown) => {
    const { status, body: shown } = await api.send("POST", `/v1/wallets/${id}/${verb}`, body);
    return { status, ...(shown as unknown as ShownWallet) };
  };
  const reasons = async () => {
    const { data } = await read<Event>(`/v1/events?subject_id=${id}`);
    return data.map(({ data: { wallet } }) => [wallet?.version, wallet?.frozen, wallet?.frozen_reason]);
  };
  const entries = async () =>
    (await read<AuditEntry>(`/v1/audit?object=${id}`)).data.map(({ action, reason }) => [action, reason]);

  it("is shown by the wallet, its events and the audit log, as it was sent", async () => {
    expect(await act("freeze", { reason: foreign })).toMatchObject({ frozen: true, frozen_reason: foreign });
    expect(await reasons()).toEqual([[2, true, foreign]]);
    expect(await entries()).toEqual([["wallet.freeze", foreign]]);
    const lines = (await createAuditStore(service.database).listAscending(tenantId, 100, 0n)).map(entryLine);
    const exported = lines.filter((line) => readEntry(tenantId, line)?.reason === foreign);
    expect(exported).toHaveLength(1);
    expect(lines.filter((line) => line.includes('"reason"'))).toEqual(exported);
  });

  it("stays if the freeze is repeated without one, and can be replaced", async () => {
    expect(await act("freeze")).toMatchObject({ frozen_reason: foreign, version: 2 });
    expect(await act("freeze", { reason: foreign })).toMatchObject({ version: 2 });
    expect(await act("freeze", { reason: "stolen" })).toMatchObject({ frozen_reason: "stolen", version: 3 });
    expect((await reasons()).at(-1)).toEqual([3, true, "stolen"]);
  });

  it("ends with the freeze, and is not shown for a later one without", async () => {
    expect(await act("unfreeze")).toMatchObject({ frozen: false, frozen_reason: null, version: 4 });
    expect(await act("freeze")).toMatchObject({ frozen: true, frozen_reason: null });
    expect(await reasons()).toEqual([
      [2, true, foreign],
      [3, true, "stolen"],
      [4, false, null],
      [5, true, null],
    ]);
    expect((await entries()).slice(0, 2)).toEqual([
      ["wallet.freeze", null],
      ["wallet.unfreeze", null],
    ]);
  });

  it("has between 1 and 256 characters that PostgreSQL can store; otherwise nothing is frozen", async () => {
    await act("unfreeze");
    for (const reason of ["", "x".repeat(257), "a\u0000b", "\ud800", 7, null])
      expect(await act("freeze", { reason })).toMatchObject({ status: 400 });
    expect(await act("freeze", { because: "x" })).toMatchObject({ status: 400 });
    expect((await api.send("GET", `/v1/wallets/${id}`)).body).toMatchObject({ frozen: false });
    expect(await act("freeze", { reason: "\u{1f512}".repeat(256) })).toMatchObject({ status: 200 });
  });

  it("is covered by the hash of its audit entry", async () => {
    const changed = await service.database.transaction(async (tx) => {
      await tx.query(sql`SET LOCAL session_replication_role = replica`);
      return await tx.query(sql`
        UPDATE audit_entries SET reason = 'mistake' WHERE tenant_id = ${tenantId} AND reason = 'stolen' RETURNING number`);
    });
    expect(changed).toHaveLength(1);
    expect(await entries()).not.toContainEqual(["wallet.freeze", "mistake"]);
  });
});
