import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { dumpInPlace } from "../../harness/database/restore-in-place.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { openStream } from "../../harness/stream/stream-client.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

/** No connection is lost, the server does not restart, and the database keeps its number. */
describe("a dump that is restored into the database of running processes", () => {
  let service: TestService;
  let another: TestService;
  let token: string;
  let api: ReturnType<typeof transactionsOf>;
  beforeAll(async () => {
    service = await startTestService();
    another = await service.another();
  });
  afterAll(async () => {
    await another?.stop();
    await service?.stop();
  });
  beforeEach(async () => {
    token = await service.token(await service.createTenant("1000"));
    api = transactionsOf(service, token);
  });

  const pay = async () => {
    const { status, text, body } = await api.create({ reference: "r", asset: "USD", amount: "1" });
    if (status !== 202) throw new Error(text);
    return await api.settled(body.id);
  };
  const readEpoch = async (one: TestService) => {
    const response = await one.call("GET", "/v1/events?limit=1", token);
    return ((await response.json()) as { epoch?: string }).epoch;
  };
  const listEpochs = () =>
    service.database.query<{ reason: string }>(sql`SELECT reason FROM database_epochs ORDER BY number`);

  it("begins one new epoch, in which nothing is shown that was lost, although the lost sequences are used again at once", async () => {
    await pay();
    const restore = await dumpInPlace(service.database);
    const epoch = await readEpoch(service);
    const known = await listEpochs();
    const stream = await openStream(another.url, { token });
    const lost = await pay();
    for (const one of [service, another])
      expect((await one.call("GET", `/v1/transactions/${lost.id}`, token)).status).toBe(200);
    await restore();
    // Accepted before anybody has noticed, or after.
    for (let n = 0; n < 3; n++) await api.create({ reference: "r", asset: "USD", amount: "1" });
    expect((await stream.closed).code).toBe(4010);
    for (const one of [service, another]) {
      const now = await eventually(
        () => readEpoch(one),
        (found) => found !== undefined && found !== epoch,
      );
      expect(now).toMatch(/^epo_/);
      expect((await one.call("GET", `/v1/transactions/${lost.id}`, token)).status).toBe(404);
    }
    const epochs = await listEpochs();
    expect(epochs).toHaveLength(known.length + 1);
    expect(epochs.at(-1)?.reason).toBe("rewound");
    expect((await pay()).state).toBe("completed");
  });

  it("differs from tables that were only rewritten", async () => {
    const { database } = service;
    await database.identify().catch(() => database.identify());
    const epoch = await readEpoch(service);
    const generation = database.identity.generation();
    for (const table of ["database_epochs", "events", "transactions"])
      await database.run(`VACUUM (FULL, FREEZE) ${table}`);
    await database.identify();
    expect(database.identity.generation()).toBe(generation);
    await pay();
    expect(await readEpoch(service)).toBe(epoch);
  });
});
