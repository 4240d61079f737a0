import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWakeUps, type Topic } from "../../../src/runtime/wake-ups.js";
import { createNotifyChannelOpener } from "../../../src/store/core/notify-channel.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";
import { createTcpProxy, type TcpProxy } from "../../harness/http/tcp-proxy.js";

describe("hints between processes", () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let proxiedUrl: string;
  const closers: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    database = await createTestDatabase("empty");
    const url = new URL(database.url);
    proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    proxiedUrl = url.href;
  });
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    await proxy.cut();
    await database.drop();
  });

  const hears = (heard: unknown[], expected: unknown[]) =>
    eventually(
      () => JSON.stringify(heard),
      (text) => text === JSON.stringify(expected),
    );

  /** A process that writes down what it hears, once its channel is open. */
  async function join(processId: string, url: string, topic: Topic = "events") {
    const wakeUps = createWakeUps({ openChannel: createNotifyChannelOpener(url), processId });
    closers.push(wakeUps.close);
    const heard: (readonly string[] | "any")[] = [];
    wakeUps.subscribe(topic, (tenantIds) => heard.push(tenantIds));
    await hears(heard, ["any"]);
    heard.length = 0;
    return { ...wakeUps, heard };
  }

  it("arrive at once in the process that sent them and soon in others, each once", async () => {
    const [here, there] = [await join("a", database.url), await join("b", database.url)];
    here.publish("events", ["t1"]);
    expect(here.heard).toEqual([["t1"]]);
    await hears(there.heard, [["t1"]]);
    there.publish("events", ["t2"]);
    await hears(here.heard, [["t1"], ["t2"]]);
    expect(there.heard).toEqual([["t1"], ["t2"]]);
  });

  it("are sent together, name each tenant once, and name none if there are too many", async () => {
    const [here, there] = [await join("a", database.url), await join("b", database.url)];
    for (const tenantId of ["t1", "t2", "t1"]) here.publish("events", [tenantId]);
    here.publish("accepted", []);
    await hears(there.heard, [["t1", "t2"]]);
    here.publish(
      "events",
      Array.from({ length: 1000 }, () => crypto.randomUUID()),
    );
    await hears(there.heard, [["t1", "t2"], "any"]);
  });

  it("that were lost with a connection are made up for by a look at everything", async () => {
    const [here, there] = [await join("a", database.url), await join("b", proxiedUrl)];
    await proxy.cut();
    here.publish("events", ["lost"]);
    await hears(here.heard, [["lost"]]);
    await proxy.restore();
    await hears(there.heard, ["any"]);
    here.publish("events", ["t1"]);
    await hears(there.heard, ["any", ["t1"]]);
  });
});
