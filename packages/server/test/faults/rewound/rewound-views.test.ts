import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findViewFaults } from "../../harness/database/expected-views.js";
import { eventually } from "../../harness/eventually.js";
import { deposit } from "../../harness/transactions/deposit.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";
import { type RewindableService, startRewindableService } from "./rewindable-service.js";

describe("statements and sums, when the database goes back in time", () => {
  let rewindable: RewindableService;
  beforeAll(async () => {
    rewindable = await startRewindableService("rewound-views");
  });
  afterAll(async () => {
    await rewindable?.stop();
  });

  it("are those of the events that are left, and go on with new ones", async () => {
    const { service, postgres } = rewindable;
    const owner = await service.createTenant();
    await deposit(service, owner, "1000");
    const tenantId = readId("tnt", owner.tenantId) ?? "";
    const api = transactionsOf(service, await service.token(owner));
    const pay = async (amount: string) => {
      const { body } = await api.create({ reference: "r", asset: "USD", amount });
      return await api.settled(body.id);
    };
    const shown = () =>
      eventually(
        async () => (await api.send("GET", "/v1/overview?asset=USD")).body as unknown as Overview,
        ({ lag }) => lag?.events === 0,
      );
    const faults = () => findViewFaults(postgres.database, tenantId);
    for (const amount of ["1", "2", "5000"]) await pay(amount);
    const before = await shown();
    await rewindable.keep();
    for (const amount of ["4", "8"]) await pay(amount);
    expect((await shown()).periods).not.toEqual(before.periods);
    await rewindable.rewind("worked on");
    expect((await shown()).periods).toEqual(before.periods);
    expect(await faults().catch(faults)).toEqual([]);
    await pay("16");
    await shown();
    expect(await faults()).toEqual([]);
  });
});

interface Overview {
  periods: object[];
  lag?: { events: number };
}
