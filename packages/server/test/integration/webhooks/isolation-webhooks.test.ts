import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listRoutes } from "../../../src/http/api.js";
import { bodyOf, pathOf, requiredQueryOf, unknownIds } from "../../harness/http/route-requests.js";
import { sharedService } from "../../harness/service/shared-service.js";
import { startWebhookReceiver, type WebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

const service = await sharedService();

/** Every route that names an endpoint or a delivery in its path. */
const routes = listRoutes({} as never, "").filter(({ path }) => /^\/v1\/webhook-[a-z]+\/:/.test(path));
const transactionOf = ({ body }: { body: { data: { transaction: { id: string } } } }) =>
  body.data.transaction.id;

/** Two tenants with endpoints at one receiver, and every way to reach the other's. A foreign object must be indistinguishable from a missing one. */
describe("webhooks of another tenant", () => {
  let receiver: WebhookReceiver;
  let owner: ReturnType<typeof webhooksOf>;
  let stranger: ReturnType<typeof webhooksOf>;
  let foreign: Record<string, string>;
  let ownersTransaction: string;

  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    const enter = async () => webhooksOf(service, await service.token(await service.createTenant("1000")));
    [owner, stranger] = [await enter(), await enter()];
    for (const [api, name] of [
      [owner, "owner"],
      [stranger, "stranger"],
    ] as const)
      for (const path of [name, "both"]) await api.createEndpoint(`${receiver.url}/${path}`);
    ownersTransaction = await owner.transact();
    await stranger.transact();
    await receiver.arrived("/owner", 1);
    await receiver.arrived("/stranger", 1);
    await receiver.arrived("/both", 2);
    const { data } = (await owner.send("GET", "/v1/webhook-endpoints")).body;
    const [delivery] = await owner.list();
    foreign = { "webhook-endpoints": data[0].id, "webhook-deliveries": delivery?.id ?? "" };
  });
  afterAll(async () => {
    await receiver.stop();
  });

  /** A response without the fields that differ in every response. */
  const shapeOf = async (sending: ReturnType<typeof stranger.send>) => {
    const { status, headers, body } = await sending;
    const { request_id: _, ...error } = body.error ?? {};
    return { status, headers: [...headers.keys()].sort(), body: { ...body, error } };
  };

  it("never reach an endpoint of another tenant, even at the same address", async () => {
    const arrivedAt = (path: string) => receiver.received.filter((one) => one.path === path);
    const own = new Set(arrivedAt("/owner").map(transactionOf));
    const theirs = new Set(arrivedAt("/stranger").map(transactionOf));
    expect([...own]).toEqual([ownersTransaction]);
    expect([...theirs].filter((id) => own.has(id))).toEqual([]);
    expect(arrivedAt("/both").map(transactionOf).sort()).toEqual([...own, ...theirs].sort());
  });

  it.each(routes.map((route) => [route.operationId, route] as const))(
    "are treated as missing in the path of %s",
    async (_operationId, route) => {
      const send = (ids: Record<string, string>) =>
        shapeOf(stranger.send(route.method, `${pathOf(route, ids)}${requiredQueryOf(route)}`, bodyOf(route)));
      const seen = await send(foreign);
      expect(seen.status).toBe(404);
      expect(seen).toEqual(await send(unknownIds));
    },
  );

  it.each([
    ["the filter of the list", "GET", "/v1/webhook-deliveries?endpoint_id=$", undefined, 200],
    [
      "resending failed deliveries",
      "POST",
      "/v1/webhook-deliveries/resend-failed",
      { endpoint_id: "$" },
      404,
    ],
    ["a replay", "POST", "/v1/webhook-deliveries/replay", { endpoint_id: "$", from_sequence: 1 }, 404],
  ])("are treated as missing in %s", async (_what, method, path, body, status) => {
    const send = (id = "") => {
      const filled = body === undefined ? undefined : JSON.parse(JSON.stringify(body).replace("$", id));
      return shapeOf(stranger.send(method, path.replace("$", id), filled));
    };
    const seen = await send(foreign["webhook-endpoints"]);
    expect(seen.status).toBe(status);
    expect(seen).toEqual(await send(unknownIds["webhook-endpoints"]));
    if (status === 200) expect(seen.body).toMatchObject({ data: [], next_cursor: null });
  });

  it.each(["webhook-endpoints", "webhook-deliveries"])(
    "are not reached by a cursor of the other's list: %s",
    async (list) => {
      const { body: first } = await owner.send("GET", `/v1/${list}?limit=1`);
      expect(first.next_cursor).toEqual(expect.any(String));
      const { body: all } = await owner.send("GET", `/v1/${list}?limit=200`);
      const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
      const seen = await stranger.send("GET", `/v1/${list}?limit=200&cursor=${first.next_cursor}`);
      expect(seen.status).toBe(200);
      expect(idsOf(seen.body).filter((id) => idsOf(all).includes(id))).toEqual([]);
    },
  );

  it("are not listed by a sequence that both logs have", async () => {
    const [own, theirs] = [await stranger.list("sequence=1"), await owner.list("sequence=1")];
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter(({ id }) => theirs.some((delivery) => delivery.id === id))).toEqual([]);
  });

  it("do not share idempotency keys", async () => {
    const key = { "idempotency-key": "the-same" };
    const create = (api: typeof owner, path: string) =>
      api.send("POST", "/v1/webhook-endpoints", { url: `${receiver.url}/${path}` }, key);
    const [first, second] = [await create(owner, "keyed-1"), await create(stranger, "keyed-2")];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers.get("idempotent-replayed")).toBeNull();
    expect(second.body.id).not.toBe(first.body.id);
    expect(second.body.secret).not.toBe(first.body.secret);
  });

  it("are unchanged after all of these requests", async () => {
    const endpoint = await owner.readEndpoint(foreign["webhook-endpoints"] ?? "");
    expect(endpoint).toMatchObject({ state: "enabled" });
    const another = await owner.transact();
    const arrived = await receiver.arrived("/owner", 2);
    expect(arrived.map(transactionOf)).toEqual([ownersTransaction, another]);
    expect(receiver.received.filter(({ path }) => path === "/stranger")).toHaveLength(1);
  });
});
