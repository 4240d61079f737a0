import { randomUUID } from "node:crypto";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RailPart, RailServices } from "../../../src/app/rails/rail.js";
import { eventually } from "../../harness/eventually.js";
import { steppingAssets, steppingRail } from "../../harness/rails/stepping-rail.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

/** The service with a rail whose driver does nothing: the test records what happens on the network. */
describe("what a driver records", () => {
  const network = "test:steps";
  let service: TestService;
  let services: RailServices;
  const part: RailPart = {
    rail: steppingRail,
    createDriver: (given) => {
      services = given;
      return { start: () => undefined, wake: () => undefined, stop: async () => undefined };
    },
  };
  beforeAll(async () => {
    const settings = { BURSAR_DESTINATION_DELAY_SECONDS: "0" };
    service = await startTestService(settings, undefined, undefined, {
      parts: [part],
      assets: steppingAssets,
    });
  });
  afterAll(() => service.stop());

  it("leaves out an impossible event, records the others, and is refused for another network", async () => {
    const tenant = await service.createTenant("1");
    const tenantId = readId("tnt", tenant.tenantId) ?? "";
    const api = transactionsOf(service, await service.token(tenant));
    const etag = (await api.send("GET", "/v1/policy")).headers.get("etag") ?? "";
    await api.send("PUT", "/v1/policy", { rules: [], default: { action: "allow" } }, { "if-match": etag });
    const wanted = { name: "steps", purpose: "payout", network };
    const { body: wallet } = await api.send("POST", "/v1/wallets", wanted, {
      "idempotency-key": randomUUID(),
    });
    const receipt = (hash: string) => ({ hash, block: { number: 1, hash: "0x1" } });
    const transfer = { tenantId, walletId: readId("wlt", wallet.id) ?? "", asset: "STEP", amount: 1000n };
    const [deposit = ""] = await services.recordDeposits(network, [
      { ...transfer, fromAddress: null, receipt: receipt("0xd"), ordinal: 0 },
    ]);
    const final = { kind: "finalise", fee: null } as const;
    await services.recordEvents(network, [{ tenantId, id: deposit, version: 2, event: final }]);

    const payouts: { tenantId: string; id: string; version: number }[] = [];
    for (const address of ["step1alice", "step1bob"]) {
      const { body } = await api.create({
        ...{ reference: "payout", asset: "STEP", amount: "1" },
        ...{ source: { wallet_id: wallet.id }, destination: { address } },
      });
      const { version } = await eventually(
        async () => (await api.read(body.id)).body,
        ({ state }) => state === "processing",
      );
      payouts.push({ tenantId, id: readId("tx", body.id) ?? "", version });
    }
    const [first, second] = payouts as [(typeof payouts)[0], (typeof payouts)[0]];
    const events: Parameters<RailServices["recordEvents"]>[1] = [
      { ...first, event: { kind: "reorganise" } },
      { ...second, event: { kind: "broadcast", hash: "0xb" } },
    ];
    await expect(services.recordEvents("book", events)).rejects.toThrow("is not on the network book");
    expect(await services.recordEvents(network, events)).toEqual(["impossible", "recorded"]);
  });
});
