import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await inspectSharedService();

interface Entry {
  number: number;
  occurred_at: string;
  actor: string;
  client_id: string | null;
  action: string;
  object: string | null;
  objects: string[];
  outcome: string;
  request_id: string | null;
}

describe("filters of the audit log", () => {
  let owner: TestClient;
  let token: string;
  let all: Entry[];
  let made: string;
  let transactions: string[];
  beforeAll(async () => {
    owner = await service.createTenant("1000");
    token = await service.token(owner);
    const created = await service.call(
      "POST",
      "/v1/clients",
      token,
      { name: "made", scopes: [] },
      { "x-request-id": "filtered-1" },
    );
    made = ((await created.json()) as { id: string }).id;
    await service.call("PATCH", `/v1/clients/${made}`, token, { name: "changed" });
    await service.call("GET", "/v1/clients", await service.token(owner, "audit:read"));
    const batch = {
      transactions: ["a", "b", "c"].map((key) => {
        return { idempotency_key: key, reference: "filtered", asset: "USD", amount: "1" };
      }),
    };
    const accepted = await service.call("POST", "/v1/transactions/batch", token, batch);
    const { data } = (await accepted.json()) as { data: { transaction: { id: string } }[] };
    transactions = data.map(({ transaction }) => transaction.id);
    all = await eventually(
      () => find(""),
      (found) =>
        found.some(({ outcome }) => outcome === "refused") &&
        found.some(({ objects }) => objects.includes(transactions[0] ?? "")),
    );
  });

  const page = async (query: string, by = token) => {
    const answer = await service.call("GET", `/v1/audit?limit=200${query}`, by);
    expect(answer.status).toBe(200);
    return (await answer.json()) as { data: Entry[]; next_cursor: string | null };
  };
  const find = async (query: string) => (await page(query)).data;

  it("select by actor, client, action, outcome and request", async () => {
    const expectOnly = async (query: string, isWanted: (entry: Entry) => boolean) => {
      const found = await find(`&${query}`);
      expect(found).toEqual(all.filter(isWanted));
      expect(found.length).toBeGreaterThan(0);
    };
    await expectOnly("actor=operator", ({ actor }) => actor === "operator");
    await expectOnly("actor=client", ({ actor }) => actor === "client");
    await expectOnly(`client_id=${owner.clientId}`, ({ client_id }) => client_id === owner.clientId);
    await expectOnly("action=client.create", ({ action }) => action === "client.create");
    await expectOnly("action=client.*", ({ action }) => action.startsWith("client."));
    await expectOnly("action=GET%20%2Fv1%2Fclients", ({ action }) => action === "GET /v1/clients");
    // A refused request is recorded by its path, and belongs to the act that it would have been.
    const ofClients = ["client.change", "client.create", "GET /v1/clients"];
    for (const [count, more] of [
      [2, ",GET /v1/clients"],
      [3, ""],
      [3, ",x,y"],
      [2, ",policy*"],
      [1, `${",x".repeat(30)},client.*`],
    ] as const) {
      const some = ofClients.slice(-count);
      const asked = encodeURIComponent(`${some.join(",")}${more}`);
      await expectOnly(
        `action=${asked}`,
        ({ action }) => some.includes(action) || (more.includes("client.*") && action.startsWith("client.")),
      );
    }
    await expectOnly("outcome=refused", ({ outcome }) => outcome === "refused");
    await expectOnly("outcome=succeeded", ({ outcome }) => outcome === "succeeded");
    await expectOnly("request_id=filtered-1", ({ request_id }) => request_id === "filtered-1");
    await expectOnly(
      `actor=client&outcome=succeeded&object=${made}`,
      (entry) => entry.actor === "client" && entry.outcome === "succeeded" && entry.object === made,
    );
  });

  it("select by object, also if its creation was recorded together with others", async () => {
    expect((await find(`&object=${made}`)).map(({ action }) => action)).toEqual([
      "client.change",
      "client.create",
    ]);
    const merged = all.find(({ objects }) => objects.includes(transactions[2] ?? ""));
    expect(merged?.object).toBeNull();
    for (const id of transactions) expect(await find(`&object=${id}`)).toEqual([merged]);
    expect(await find(`&object=${transactions[0]}&action=transaction.create`)).toEqual([merged]);
  });

  it("select by time", async () => {
    const [newest] = all;
    const oldest = all.at(-1);
    const after = new Date(Date.parse(newest?.occurred_at ?? "") + 1).toISOString();
    expect(await find(`&occurred_after=${after}`)).toEqual([]);
    expect(await find(`&occurred_before=${after}`)).toEqual(all);
    expect(await find(`&occurred_after=${oldest?.occurred_at}&occurred_before=${after}`)).toEqual(all);
    const middle = all[1]?.occurred_at ?? "";
    expect(await find(`&occurred_before=${middle}`)).toEqual(
      all.filter(({ occurred_at }) => occurred_at < middle),
    );
  });

  it("are paged", async () => {
    const wanted = all.filter(({ client_id }) => client_id === owner.clientId).map(({ number }) => number);
    const numbers: number[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const more: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const answer = await service.call("GET", `/v1/audit?limit=1&client_id=${owner.clientId}${more}`, token);
      const body = (await answer.json()) as { data: Entry[]; next_cursor: string | null };
      numbers.push(...body.data.map(({ number }) => number));
      cursor = body.next_cursor;
    }
    expect(numbers).toEqual(wanted);
  });

  it("find nothing of another tenant", async () => {
    const other = await service.token(await service.createTenant());
    for (const query of [`client_id=${owner.clientId}`, `object=${made}`, "request_id=filtered-1"])
      expect((await page(`&${query}`, other)).data).toEqual([]);
  });

  it("are refused if they are malformed", async () => {
    for (const query of [
      "actor=nobody",
      "client_id=x",
      "outcome=maybe",
      "request_id=a%20b",
      "occurred_after=yesterday",
      "action=client.create,",
      `action=${"x,".repeat(32)}x`,
      `object=${"x".repeat(201)}`,
    ])
      expect((await service.call("GET", `/v1/audit?${query}`, token)).status).toBe(400);
  });
});
