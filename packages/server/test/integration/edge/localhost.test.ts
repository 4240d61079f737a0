import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { sharedService } from "../../harness/service/shared-service.js";
import { startTestService } from "../../harness/service/test-service.js";
import { startWebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === "::1"),
);

describe("on this machine", () => {
  it("a service and a receiver that have the address 127.0.0.1 are found as localhost", async () => {
    const service = await sharedService();
    const named = (url: string) => url.replace("127.0.0.1", "localhost");
    expect((await fetch(`${named(service.url)}/healthz`)).status).toBe(200);
    const hooks = webhooksOf(service, await service.token(await service.createTenant("10")));
    const receiver = await startWebhookReceiver();
    const endpoint = await hooks.createEndpoint(named(`${receiver.url}/hook`));
    await hooks.transact();
    await receiver.arrived("/hook", 1);
    await receiver.stop();
    expect(endpoint.url).toContain("http://localhost:");
  });

  it.each([
    ["localhost", "localhost", true],
    ["::1", "[::1]", hasIpv6],
  ])("HOST=%s is the address of the service, and of its documents", async (HOST, shown, isPossible) => {
    if (!isPossible) return;
    const service = await startTestService({ HOST });
    try {
      expect(service.url).toMatch(new RegExp(`^http://${shown.replace(/[[\]]/g, "\\$&")}:\\d+$`));
      const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as { servers: object[] };
      expect(document.servers).toMatchObject([{ url: service.url }]);
      const token = await service.token(await service.createTenant());
      expect((await service.call("GET", "/v1/me", token)).status).toBe(200);
    } finally {
      await service.stop();
    }
  });
});
