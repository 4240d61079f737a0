import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWakeUps, type Topic } from "../../../src/runtime/loops/wake-ups.js";
import { createNotifyChannelOpener } from "../../../src/store/core/connection/notify-channel.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";
import { createTcpProxy, type TcpProxy } from "../../harness/http/tcp-proxy.js";

type ChannelOptions = Partial<
  [
    identity: Parameters<typeof createNotifyChannelOpener>[1],
    pings: Parameters<typeof createNotifyChannelOpener>[2],
  ]
>;

describe("notifications between processes", () => {
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

  const waitUntilReceived = (received: unknown[], expected: unknown[]) =>
    eventually(
      () => JSON.stringify(received),
      (text) => text === JSON.stringify(expected),
    );

  /** A process that records the notifications it receives, once its channel is open. */
  async function join(processId: string, url: string, topic: Topic = "events", ...options: ChannelOptions) {
    const [identity = database.identity, pings] = options;
    const openChannel = createNotifyChannelOpener(url, identity, pings);
    const wakeUps = createWakeUps({ openChannel, processId });
    closers.push(wakeUps.close);
    const received: (readonly string[] | "any")[] = [];
    wakeUps.subscribe(topic, (tenantIds) => received.push(tenantIds));
    await waitUntilReceived(received, ["any"]);
    received.length = 0;
    return { ...wakeUps, received };
  }

  it("arrive immediately in the process that sent them and soon in others, each once", async () => {
    const [here, there] = [await join("a", database.url), await join("b", database.url)];
    here.publish("events", ["t1"]);
    expect(here.received).toEqual([["t1"]]);
    await waitUntilReceived(there.received, [["t1"]]);
    there.publish("events", ["t2"]);
    await waitUntilReceived(here.received, [["t1"], ["t2"]]);
    expect(there.received).toEqual([["t1"], ["t2"]]);
  });

  it("are merged, name each tenant once, and name none if there are too many", async () => {
    const [here, there] = [await join("a", database.url), await join("b", database.url)];
    for (const tenantId of ["t1", "t2", "t1"]) here.publish("events", [tenantId]);
    here.publish("accepted", []);
    await waitUntilReceived(there.received, [["t1", "t2"]]);
    here.publish(
      "events",
      Array.from({ length: 1000 }, () => crypto.randomUUID()),
    );
    await waitUntilReceived(there.received, [["t1", "t2"], "any"]);
  });

  it("that were lost with a connection are replaced by a notification for all tenants", async () => {
    const [here, there] = [await join("a", database.url), await join("b", proxiedUrl)];
    await proxy.cut();
    here.publish("events", ["lost"]);
    await waitUntilReceived(here.received, [["lost"]]);
    await proxy.restore();
    await waitUntilReceived(there.received, ["any"]);
    here.publish("events", ["t1"]);
    await waitUntilReceived(there.received, ["any", ["t1"]]);
  });

  it("go on if their connection hangs, whether it is asked or the database has changed", async () => {
    const neverMs = 3_600_000;
    let change: (() => void) | undefined;
    const identity: typeof database.identity = {
      ...database.identity,
      subscribe: (listener) => {
        change = () => listener({ isNewEpoch: true });
        return () => undefined;
      },
    };
    const here = await join("a", database.url);
    const asked = await join("b", proxiedUrl, "events", database.identity, { everyMs: 50, timeoutMs: 500 });
    const changed = await join("c", proxiedUrl, "events", identity, { everyMs: neverMs, timeoutMs: neverMs });
    proxy.freeze();
    change?.();
    for (const { received } of [asked, changed])
      await eventually(
        () => {
          here.publish("events", ["t1"]);
          return received.flat();
        },
        (names) => names.includes("t1"),
      );
  });
});
