import type { Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import type { TestClient, TestService } from "../../../harness/service/test-service.js";

const service = await inspectSharedService();
let second: TestService;
beforeAll(async () => {
  second = await service.another();
});
afterAll(() => second.stop());

interface Scene {
  owner: TestClient;
  client: TestClient;
  /** A request of the owner to the second process. */
  call: (method: string, path: string, body: object) => Promise<void>;
}

/** Each stops the client in the second process, and later replaces its credentials and ends the stop. */
const stops: [string, (scene: Scene) => Promise<void>, (scene: Scene) => Promise<void>][] = [
  [
    "the operator has disabled the client",
    ({ client }) => second.changeAsOperator(client, { state: "disabled", cancel: ["transactions"] }),
    async ({ client }) => {
      await second.resetAsOperator(client);
      await second.changeAsOperator(client, { state: "active" });
    },
  ],
  [
    "an administrator has disabled the client",
    ({ call, client }) =>
      call("PATCH", `/v1/clients/${client.clientId}`, { state: "disabled", cancel: ["transactions"] }),
    async ({ call, client }) => {
      await call("POST", `/v1/clients/${client.clientId}/secrets`, { overlap_seconds: 0 });
      await call("PATCH", `/v1/clients/${client.clientId}`, { state: "active" });
    },
  ],
  [
    "the operator has disabled the client without cancelling anything",
    ({ client }) => second.changeAsOperator(client, { state: "disabled" }),
    ({ client }) => second.changeAsOperator(client, { state: "active" }),
  ],
  [
    "the tenant was suspended",
    ({ owner }) => second.setTenantSuspended(owner, true),
    async ({ owner, client }) => {
      await second.resetAsOperator(client);
      await second.setTenantSuspended(owner, false);
    },
  ],
];

it.each(stops)("what an old token requests after %s is never paid", async (_, stop, resume) => {
  const owner = await service.createTenant("1000");
  const token = await service.token(owner);
  const client = await service.createIndependentClient(owner, ["transactions:write"]);
  const call = async (method: string, path: string, body: object) => {
    expect((await second.call(method, path, token, body)).ok).toBe(true);
  };
  const pay = async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const body = { reference: "stale", asset: "USD", amount: "1" };
    const answer = await service.call("POST", "/v1/transactions", client.token, body, headers);
    expect(answer.status).toBe(202);
    return ((await answer.json()) as Transaction).id;
  };
  const read = async (id: string) =>
    (await (await service.call("GET", `/v1/transactions/${id}`, token)).json()) as Transaction;
  const endOf = (id: string) =>
    eventually(
      () => read(id),
      ({ state }) => state === "completed" || state === "cancelled",
    );
  // From now on the first process knows the client, for at least 2 seconds.
  expect(await endOf(await pay())).toMatchObject({ state: "completed" });
  await stop({ owner, client, call });
  const ids = [await pay(), await pay()];
  await resume({ owner, client, call });
  const ends = await Promise.all(ids.map(endOf));
  expect(ends.map(({ state }) => state)).toEqual(["cancelled", "cancelled"]);
});
