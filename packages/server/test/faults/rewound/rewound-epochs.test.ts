import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";
import { type RewindableService, startRewindableService } from "./rewindable-service.js";

describe("a service whose database goes back in time", () => {
  let rewindable: RewindableService;
  let api: ReturnType<typeof transactionsOf>;
  beforeAll(async () => {
    rewindable = await startRewindableService("rewound-epochs");
  });
  afterAll(async () => {
    await rewindable?.stop();
  });
  beforeEach(async () => {
    const { service } = rewindable;
    api = transactionsOf(service, await service.token(await service.createTenant("1000")));
  });

  const pay = async () => {
    const { status, text, body } = await api.create({ reference: "r", asset: "USD", amount: "1" });
    if (status !== 202) throw new Error(text);
    return await api.settled(body.id);
  };
  const readEpoch = async () => {
    const { status, text, body } = await api.send("GET", "/v1/events?limit=1");
    if (status !== 200) throw new Error(text);
    return (body as unknown as { epoch: string }).epoch;
  };
  const listEpochs = () =>
    rewindable.postgres.database.query<{ number: string }>(
      sql`SELECT number FROM database_epochs ORDER BY number`,
    );

  it("begins one epoch, although the copy has written more to its log than was lost and two processes notice", async () => {
    const another = await rewindable.service.another();
    try {
      await pay();
      await rewindable.keep();
      const epoch = await readEpoch();
      const known = await listEpochs().catch(listEpochs);
      const lost = await pay();
      await rewindable.rewind("worked on");
      await rewindable.untilServing(another);
      expect((await api.read(lost.id)).status).toBe(404);
      expect(await readEpoch()).not.toBe(epoch);
      expect(await listEpochs().catch(listEpochs)).toHaveLength(known.length + 1);
    } finally {
      await another.stop();
    }
  });

  it("begins an epoch that was never used, although the copy is from before the last one", async () => {
    await pay();
    await rewindable.keep();
    const first = await readEpoch();
    await pay();
    await rewindable.rewind();
    const second = await readEpoch();
    const [last] = (await listEpochs().catch(listEpochs)).slice(-1);
    await rewindable.rewind("worked on");
    const third = await readEpoch();
    expect(new Set([first, second, third]).size).toBe(3);
    const [now] = (await listEpochs().catch(listEpochs)).slice(-1);
    expect(Number(now?.number)).toBe(Number(last?.number) + 1);
  });

  it("keeps the epoch and everything else when the server only restarts", async () => {
    const paid = await pay();
    const epoch = await readEpoch();
    const readBook = async () => (await api.send("GET", "/v1/orderbook")).body;
    // Its market has just begun after what the test before did, and has no book until then.
    await eventually(readBook, (book) => "stale" in book && book.stale === false);
    await rewindable.postgres.stop();
    expect(await readBook()).toMatchObject({ stale: true });
    await rewindable.postgres.start();
    await rewindable.untilServing();
    expect(await readEpoch()).toBe(epoch);
    expect((await api.read(paid.id)).status).toBe(200);
    await pay();
  });

  it("shows nothing after a restart until its synchronous standby has what is visible", async () => {
    const paid = await pay();
    const { postgres } = rewindable;
    // The first statement after a restart fails.
    const setSystem = (text: string) =>
      eventually(
        () =>
          postgres.database.run(`ALTER SYSTEM ${text}`).then(
            () => postgres.database.run("SELECT pg_reload_conf()").then(() => true),
            () => false,
          ),
        Boolean,
      );
    await setSystem("SET synchronous_standby_names = 'nobody'");
    await postgres.stop();
    await postgres.start();
    const readStatus = async () => (await api.read(paid.id)).status;
    // What is in memory is from before.
    await eventually(readStatus, (status) => status === 503);
    for (let look = 0; look < 10; look++) {
      expect(await readStatus()).toBe(503);
      await sleep(100);
    }
    await setSystem("RESET synchronous_standby_names");
    await rewindable.untilServing();
    expect((await api.read(paid.id)).status).toBe(200);
  });
});
