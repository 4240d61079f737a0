import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Event, Trade } from "@bursar/protocol";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../harness/eventually.js";
import { createTrader, type Trader } from "../harness/markets/trader.js";
import { runBursar } from "../harness/service/bursar-process.js";
import { startTestService, type TestService } from "../harness/service/test-service.js";
import { openStream, type StreamClient } from "../harness/stream/stream-client.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";
import { deposit } from "../harness/transactions/deposit.js";
import { startWebhookReceiver, type WebhookReceiver } from "../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../harness/webhooks/webhooks-client.js";

const folder = createTemporaryFolder("trade");
let service: TestService;
let receiver: WebhookReceiver;
beforeAll(async () => {
  service = await startTestService();
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
  rmSync(folder, { recursive: true });
});

/** A tenant that trades, and follows its orders through the stream, the log and webhooks. */
async function createListener(name: string, funds: Record<string, string>) {
  const trader = await createTrader(service, {});
  for (const [asset, amount] of Object.entries(funds)) await deposit(service, trader.owner, amount, asset);
  const hooks = webhooksOf(service, trader.token);
  const endpoint = await hooks.createEndpoint(`${receiver.url}/${name}`, ["order.updated"]);
  const stream = await openStream(service.url, { token: trader.token });
  stream.send({ type: "subscribe", channel: "events" });
  await stream.next("subscribed");
  const verify = new Webhook(endpoint.secret);
  return { trader, hooks, stream, verify, path: `/${name}` };
}

type Listener = Awaited<ReturnType<typeof createListener>>;

/** The events from the stream, the log and verified webhooks, without the fields of each transport. They must be equal. */
async function toldAlike({ trader, stream, verify, path }: Listener, count: number): Promise<Event[]> {
  const delivered = (await receiver.arrived(path, count)).map(({ text, headers }) => {
    const { delivery_id, ...event } = verify.verify(text, headers) as Event & { delivery_id: string };
    expect(headers["webhook-id"]).toBe(delivery_id);
    return event;
  });
  await eventually(
    () => stream.sequences(),
    (sequences) => sequences.length >= count,
  );
  const streamed = stream.messages.filter(({ type }) => type === "event").map(({ event }) => event);
  const { data: logged } = (await trader.send("GET", "/v1/events?kinds=order.updated")).body as unknown as {
    data: Event[];
  };
  expect(delivered.toSorted((one, other) => one.sequence - other.sequence)).toEqual(logged);
  expect(streamed).toEqual(logged);
  return logged;
}

async function follow(trader: Trader): Promise<StreamClient> {
  const stream = await openStream(service.url, { token: trader.token });
  for (const channel of ["orderbook:ETH-USD", "trades:ETH-USD"]) {
    stream.send({ type: "subscribe", channel });
    await stream.next("subscribed");
  }
  return stream;
}

it("two crossing orders make a trade that moves balances, is published to webhooks and stream, and leaves the ledger clean", async () => {
  const seller = await createListener("seller", { ETH: "10" });
  const buyer = await createListener("buyer", { USD: "10000" });
  const market = await follow((await createListener("onlooker", {})).trader);

  const resting = await seller.trader.placed({ side: "sell", price: "3000", size: "2" });
  await buyer.trader.placed({ side: "buy", price: "3010", size: "0.5" });

  expect(await buyer.trader.balances()).toEqual({ ETH: ["0.499", "0"], USD: ["8500", "0"] });
  expect(await seller.trader.balances()).toEqual({ ETH: ["8", "1.5"], USD: ["1498.5", "0"] });

  // Each event contains the order as of that event, not as it is now.
  const progress = ({ sequence, event, data }: Event) => {
    const { order, previous_state } = data as { order: typeof resting; previous_state: string };
    return [sequence, event, order.version, previous_state, order.state, order.filled, order.fee.amount];
  };
  expect((await toldAlike(seller, 2)).map(progress)).toEqual([
    [2, "order.updated", 2, "pending", "open", "0.00", "0"],
    [3, "order.updated", 3, "open", "partially_filled", "0.50", "1.5"],
  ]);
  expect((await toldAlike(buyer, 1)).map(progress)).toEqual([
    [2, "order.updated", 2, "pending", "filled", "0.50", "0.001"],
  ]);

  // A resent delivery is the same, long after the order has changed.
  const [first] = await receiver.arrived(seller.path, 1);
  await seller.hooks.send("POST", `/v1/webhook-deliveries/${first?.body.delivery_id}/resend`, {});
  const again = (await receiver.arrived(seller.path, 3)).at(-1);
  expect(seller.verify.verify(again?.text ?? "", again?.headers ?? {})).toEqual({
    ...first?.body,
    delivery_id: again?.headers["webhook-id"],
  });

  const { trade } = (await market.next("trade")) as unknown as { trade: Trade };
  expect(trade).toMatchObject({ sequence: 1, price: "3000", size: "0.50", taker_side: "buy" });
  const { data: trades } = (await buyer.trader.send("GET", "/v1/markets/ETH-USD/trades")).body as unknown as {
    data: Trade[];
  };
  expect(trades).toEqual([trade]);
  expect(market.messages.filter(({ type }) => type === "delta")).toMatchObject([
    { bids: [], asks: [["3000", "2.00"]] },
    { bids: [], asks: [["3000", "1.50"]] },
  ]);

  const masterKeyFile = join(folder, "master.key");
  writeFileSync(masterKeyFile, Buffer.from(service.masterKey).toString("hex"), { mode: 0o600 });
  const { code, output } = await runBursar(["audit", "ledger"], {
    DATABASE_URL: service.database.url,
    BURSAR_MASTER_KEY_FILE: masterKeyFile,
  });
  expect(output).not.toContain("VIOLATED");
  expect(code).toBe(0);
  for (const { ws } of [seller.stream, buyer.stream, market]) ws.terminate();
});
