import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../../harness/eventually.js";
import { startTestService, type TestService } from "../../../harness/service/test-service.js";

describe("requests that are refused", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ "quotas.address_per_second": "1", "quotas.address_burst": "40" });
  });
  afterAll(() => service.stop());

  it("count against their address, even with a token that was valid once", async () => {
    const owner = await service.createTenant();
    const manager = await service.token(owner);
    const { id, secret } = (await (
      await service.call("POST", "/v1/clients", manager, { name: "gone", scopes: ["wallets:read"] })
    ).json()) as { id: string; secret: string };
    const token = await service.token({ clientId: id, secret });
    expect((await service.call("GET", "/v1/wallets", token)).status).toBe(200);
    await service.call("PATCH", `/v1/clients/${id}`, manager, { state: "disabled" });
    const statusOf = async (path: string) => (await service.call("GET", path, token)).status;
    await eventually(
      () => statusOf("/v1/wallets"),
      (status) => status === 401,
    );
    const statuses = await Promise.all(
      Array.from({ length: 100 }, (_, number) => statusOf(`/v1/wallets/wlt_${number}`)),
    );
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(50);
    // None of them is hidden: what the quota has refused is in the audit log too.
    const countRefused = async () => {
      const answer = await service.call(
        "GET",
        `/v1/audit?client_id=${id}&outcome=refused&limit=200`,
        manager,
      );
      const { data } = (await answer.json()) as { data: { repeated: number }[] };
      return data.reduce((sum, { repeated }) => sum + repeated, 0);
    };
    await eventually(countRefused, (count) => count >= 100, 10_000);
    // Authenticated clients are not affected.
    expect((await service.call("GET", "/v1/wallets", manager)).status).toBe(200);
  });
});
