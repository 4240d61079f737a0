import { readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { createDestinationStore } from "../../../src/store/policy/destinations.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { startTestService, type TestClient } from "../../harness/service/test-service.js";

const service = await inspectSharedService();

interface ShownDestination {
  id: string;
  label: string;
  network: string;
  address: string;
  note: string | null;
  state: string;
  created_by: string;
  created_at: string;
  effective_at: string;
  data: ShownDestination[];
  next_cursor: string | null;
  error?: { code: string; details?: { path: string; reason: string }[] };
}

const mixedCase = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const address = (number: number) => `0x${number.toString(16).padStart(40, "0")}`;
const daySeconds = 86_400;

describe("destinations", () => {
  let owner: TestClient;
  let token: string;
  beforeEach(async () => {
    owner = await service.createTenant();
    token = await service.token(owner);
  });

  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    as = token,
  ) => {
    const response = await service.call(method, path, as, body, headers);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (text === "" ? {} : JSON.parse(text)) as ShownDestination,
    };
  };
  const add = (changed: object = {}, headers: Record<string, string> = {}, as = token) =>
    call(
      "POST",
      "/v1/destinations",
      { label: "supplier", network: "eip155:1", address: mixedCase, ...changed },
      headers,
      as,
    );
  const endWaiting = (id: string) =>
    service.database.query(
      sql`UPDATE destinations SET effective_at = created_at WHERE id = ${readId("dst", id) ?? ""}`,
    );

  it("take effect after a day, and are stored in canonical form", async () => {
    const { status, headers, body } = await add({ note: "invoice 7" });
    expect(status).toBe(201);
    expect(headers.get("location")).toBe(`/v1/destinations/${body.id}`);
    expect(body).toMatchObject({
      label: "supplier",
      network: "eip155:1",
      address: mixedCase.toLowerCase(),
      note: "invoice 7",
      state: "waiting",
      created_by: owner.clientId,
    });
    expect(Date.parse(body.effective_at) - Date.parse(body.created_at)).toBe(daySeconds * 1000);
    expect((await call("GET", `/v1/destinations/${body.id}`)).body).toEqual(body);
    await endWaiting(body.id);
    expect((await call("GET", `/v1/destinations/${body.id}`)).body.state).toBe("active");
  });

  it("count as listed from the end of their delay, to the millisecond, until they are removed", async () => {
    const { body } = await add();
    const store = createDestinationStore(service.database);
    const isListed = (at: number, network = "eip155:1", tenantId = owner.client.tenantId) =>
      store.isListed(tenantId, network, mixedCase.toLowerCase(), new Date(at));
    const effectiveAt = Date.parse(body.effective_at);
    expect(await isListed(effectiveAt - 1)).toBe(false);
    expect(await isListed(effectiveAt)).toBe(true);
    expect(await isListed(effectiveAt, "eip155:10")).toBe(false);
    const stranger = await service.createTenant();
    expect(await isListed(effectiveAt, "eip155:1", stranger.client.tenantId)).toBe(false);
    await call("DELETE", `/v1/destinations/${body.id}`);
    expect(await isListed(effectiveAt)).toBe(false);
  });

  it("are unique regardless of the case of the address", async () => {
    expect((await add()).status).toBe(201);
    const again = await add({ address: mixedCase.toLowerCase(), label: "other" });
    expect([again.status, again.body.error?.code]).toEqual([409, "DESTINATION_EXISTS"]);
    expect((await add({ network: "eip155:10" })).status).toBe(201);
    const stranger = await service.token(await service.createTenant());
    expect((await add({}, {}, stranger)).status).toBe(201);
  });

  it("are created once by twenty concurrent requests", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => add()));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
  });

  it("honour an idempotency key, with the original response", async () => {
    const key = { "idempotency-key": "destination-1" };
    const first = await add({}, key);
    await endWaiting(first.body.id);
    const other = await add({ label: "other" }, key);
    expect([other.status, other.body.error?.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
    const again = await add({}, key);
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    expect(again.body.id).toBe(first.body.id);
  });

  it("are not created again when the request is repeated after they were removed", async () => {
    const key = { "idempotency-key": "destination-2" };
    const first = await add({}, key);
    expect((await call("DELETE", `/v1/destinations/${first.body.id}`)).status).toBe(204);
    const again = await add({}, key);
    expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
    expect((await call("GET", "/v1/destinations")).body.data).toEqual([]);
  });

  it("can be removed once, and can be added again with a new delay", async () => {
    const { body } = await add();
    const path = `/v1/destinations/${body.id}`;
    expect((await call("DELETE", path)).text).toBe("");
    for (const method of ["GET", "DELETE"]) {
      const gone = await call(method, path);
      expect([gone.status, gone.body.error?.code]).toEqual([404, "DESTINATION_NOT_FOUND"]);
    }
    const again = await add();
    expect([again.status, again.body.state]).toEqual([201, "waiting"]);
    expect(again.body.id).not.toBe(body.id);
  });

  it("are listed newest first, a page at a time, by network and state", async () => {
    const made: string[] = [];
    for (let number = 1; number <= 5; number++) {
      made.unshift((await add({ address: address(number), network: `eip155:${1 + (number % 2)}` })).body.id);
    }
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await call("GET", `/v1/destinations?limit=2${cursor}`);
      seen.push(...body.data.map(({ id }) => id));
      cursor = body.next_cursor === null ? "" : `&cursor=${body.next_cursor}`;
    } while (cursor !== "");
    expect(seen).toEqual(made);
    await endWaiting(made[0] ?? "");
    const list = async (query: string) =>
      (await call("GET", `/v1/destinations?${query}`)).body.data.map(({ id }) => made.indexOf(id));
    expect(await list("state=active")).toEqual([0]);
    expect(await list("state=waiting")).toEqual([1, 2, 3, 4]);
    expect(await list("network=eip155:1")).toEqual([1, 3]);
    expect(await list("network=eip155:2&state=active")).toEqual([0]);
    expect((await call("GET", "/v1/destinations?state=removed")).status).toBe(400);
  });

  it("are found by their address on a network, in any case, until they are removed", async () => {
    const { body: listed } = await add();
    await add({ network: "eip155:10" });
    await add({ address: address(1) });
    const find = async (query: string) =>
      (await call("GET", `/v1/destinations?${query}`)).body.data.map(({ id }) => id);
    for (const form of [mixedCase, mixedCase.toLowerCase()])
      expect(await find(`network=eip155:1&address=${form}`)).toEqual([listed.id]);
    expect(await find(`network=eip155:1&address=${mixedCase}&state=active`)).toEqual([]);
    expect(await find("network=eip155:1&address=nonsense")).toEqual([]);
    const alone = await call("GET", `/v1/destinations?address=${mixedCase}`);
    expect([alone.status, alone.body.error?.details]).toEqual([
      400,
      [{ path: "query.address", reason: "needs `network` beside it" }],
    ]);
    await call("DELETE", `/v1/destinations/${listed.id}`);
    expect(await find(`network=eip155:1&address=${mixedCase}`)).toEqual([]);
  });

  it.each([
    [{ network: "book" }, 422, "NETWORK_UNKNOWN", "body.network"],
    [{ network: "dogecoin" }, 422, "NETWORK_UNKNOWN", "body.network"],
    [{ network: "eip155:01" }, 422, "NETWORK_UNKNOWN", "body.network"],
    [{ address: "0x12" }, 400, "INVALID_REQUEST", "body.address"],
    [{ address: `${mixedCase.slice(0, -1)}g` }, 400, "INVALID_REQUEST", "body.address"],
    [{ network: "cosmos:cosmoshub-4", address: "two words" }, 400, "INVALID_REQUEST", "body.address"],
    [{ address: "x".repeat(129) }, 400, "INVALID_REQUEST", "body.address"],
    [{ label: "" }, 400, "INVALID_REQUEST", "body.label"],
    [{ state: "active" }, 400, "INVALID_REQUEST", "body.state"],
    [{ effective_at: "2020-01-01T00:00:00Z" }, 400, "INVALID_REQUEST", "body.effective_at"],
  ])("refuse %j", async (changed, status, code, path) => {
    const answer = await add(changed);
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    expect(answer.body.error?.details?.map((detail) => detail.path)).toEqual([path]);
  });

  it("are in the audit log, with their addresses and the clients that listed and removed them", async () => {
    const { body } = await add();
    await call("DELETE", `/v1/destinations/${body.id}`);
    const { data } = (await call("GET", "/v1/audit?limit=50")).body as unknown as {
      data: { action: string; object: string; client_id: string; outcome: string }[];
    };
    expect(data.filter(({ object }) => object === body.id)).toMatchObject(
      ["destination.remove", "destination.create"].map((action) => ({
        action,
        object: body.id,
        objects: [body.id, `${body.network}/${body.address}`],
        client_id: owner.clientId,
        outcome: "succeeded",
      })),
    );
  });
});

describe("the delay of destinations", () => {
  it("can be set to 0, so that they take effect immediately", async () => {
    const service = await startTestService({ BURSAR_DESTINATION_DELAY_SECONDS: "0" });
    try {
      const token = await service.token(await service.createTenant());
      const response = await service.call("POST", "/v1/destinations", token, {
        label: "supplier",
        network: "bip122:000000000019d6689c085ae165831e93",
        address: "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
      });
      expect(await response.json()).toMatchObject({
        state: "active",
        address: "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
      });
    } finally {
      await service.stop();
    }
  });
});
