import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createBursar } from "@bursar/client";
import { tradingPolicy } from "@bursar/domain";
import { beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../src/embedded/free-port.js";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";
import type { Visitor } from "../harness/console/visitor.js";
import { eventually } from "../harness/eventually.js";
import { createTcpProxy, type TcpProxy } from "../harness/http/tcp-proxy.js";

/** Short and long sizes are in tools/proofs/proofs.mjs. */
const events = Number(process.env["BURSAR_CONSOLE_EVENTS"]);
const cuts = Number(process.env["BURSAR_CONSOLE_CUTS"]);
const isLong = process.env["BURSAR_PROOF_FORM"] === "long";

const batchSize = 50;
const batchEveryMs = 100;
/** As many as the list keeps in memory; before that, its memory grows. */
const rowsMax = 1000;
const firstMeasure = Math.max(events / 10, rowsMax * 2);

describe.runIf(hasBrowser)("the live list of transactions", () => {
  let proxy: TcpProxy;
  const running = useConsole(async () => {
    const port = await freePort();
    proxy = await createTcpProxy({ host: "127.0.0.1", port });
    return { PORT: String(port), BURSAR_PUBLIC_URL: `http://127.0.0.1:${proxy.port}` };
  });
  let ada: Visitor;
  let pay: () => Promise<void>;
  beforeAll(async () => {
    const { service, join } = running();
    const owner = await service.createTenant(String(events));
    const token = await service.token(owner);
    const { transactions } = createBursar({ baseUrl: service.url, credentials: () => token });
    pay = async () => {
      const payment = { reference: "live", asset: "USD", amount: "0.01" };
      const batch = Array.from({ length: batchSize }, () => ({ idempotency_key: randomUUID(), ...payment }));
      for await (const { error } of transactions.createMany(batch)) if (error !== undefined) throw error;
    };
    ada = await join(owner, "viewer");
  });

  it(`misses none of ${events} payments over ${cuts} cuts, with few rows and bounded memory`, async () => {
    const { page, cdp } = ada;
    const sequences = new Set<number>();
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        const message = JSON.parse(payload.toString()) as { type: string; event?: { sequence: number } };
        if (message.type === "event" && message.event) sequences.add(message.event.sequence);
      }),
    );
    await ada.open("/transactions");
    await page.getByRole("status").getByText("live").waitFor();
    const start = Date.now();
    let rowsSeen = 0;
    let heapFirst = 0;
    for (let paid = 0; paid < events; paid += batchSize) {
      const begun = performance.now();
      await pay();
      if (crosses(paid, events / (cuts + 1)) && paid > 0) {
        await proxy.cut();
        await proxy.restore();
      }
      if (paid % (batchSize * 10) === 0)
        rowsSeen = Math.max(rowsSeen, await page.locator("tbody tr").count());
      if (heapFirst === 0 && paid >= firstMeasure) {
        await haveCome(firstMeasure);
        heapFirst = await heap();
      }
      await sleep(Math.max(0, batchEveryMs - (performance.now() - begun)));
    }
    const perSecond = Math.round((events / (Date.now() - start)) * 1000);
    await haveCome(events);
    expect([...sequences].sort((one, other) => one - other)).toEqual(upTo(events));
    const expected = await newest();
    const shown = await eventually(idsInList, (ids) => ids.join() === expected.join(), 60_000);
    expect(shown).toEqual(expected);
    // A file has those that the list has dropped, too.
    const saved = await idsOfFile();
    expect(saved.slice(0, expected.length)).toEqual(expected);
    expect(saved).toHaveLength(Math.min(events, 10_000));
    const heapLast = await heap();
    expect(rowsSeen).toBeGreaterThan(10);
    expect(rowsSeen).toBeLessThanOrEqual(200);
    expect(heapFirst).toBeGreaterThan(0);
    expect(heapLast / heapFirst).toBeLessThan(1.3);
    if (isLong)
      process.stdout.write(`${JSON.stringify({ events, cuts, perSecond, rowsSeen, heapFirst, heapLast })}\n`);

    function haveCome(count: number): Promise<number> {
      return eventually(
        async () => sequences.size,
        (size) => size >= count,
        120_000,
      );
    }

    async function heap(): Promise<number> {
      await cdp.send("HeapProfiler.collectGarbage");
      return (await cdp.send("Runtime.getHeapUsage")).usedSize;
    }
  }, 900_000);

  it("is on the overview too, which shows a payment without a reading by the clock", async () => {
    const { service, join } = running();
    const owner = await service.createTenant("1000");
    const { transactions } = createBursar({ baseUrl: service.url, credentials: () => service.token(owner) });
    const grace = await join(owner, "viewer");
    // What is read at intervals is read once.
    await grace.page.addInitScript("globalThis.setInterval = () => 0");
    const followed = new Promise((resolve) => {
      grace.page.once("websocket", (socket) => {
        socket.once("framereceived", resolve);
      });
    });
    await grace.open("/");
    await grace.page.getByRole("heading", { name: "Latest transactions" }).waitFor();
    await followed;
    const payment = { reference: "seen at once", asset: "USD", amount: "12.50" };
    await transactions.create(payment, { idempotencyKey: randomUUID() });
    const latest = grace.page.getByRole("region", { name: "Table: Latest transactions" });
    await latest.getByRole("row", { name: "seen at once" }).getByText("completed", { exact: true }).waitFor();
    await grace.page.getByRole("region", { name: "Table: Today by asset" }).getByText("12.50").waitFor();
    await grace.close();
  });

  it("shows the events of payments by their references, without reading each payment", async () => {
    const { page } = ada;
    const read: string[] = [];
    page.on("request", (request) => {
      if (/\/v1\/transactions\/tx_/.test(request.url())) read.push(request.url());
    });
    await pay();
    await ada.open("/events");
    await page.getByRole("status").getByText("live").waitFor();
    const before = await newestEvent();
    await pay();
    await eventually(newestEvent, (entry) => entry > before);
    await page.locator("tbody tr").first().getByText("live", { exact: true }).waitFor();
    expect(read).toEqual([]);

    async function newestEvent(): Promise<number> {
      return Number(await page.locator("tbody tr button").first().innerText());
    }
  });

  it("takes orders of a market, and greys out a book that is not confirmed", async () => {
    const { service, join } = running();
    const owner = await service.createTenant("1000");
    const token = await service.token(owner);
    await service.call("PUT", "/v1/policy", token, tradingPolicy, { "if-match": '"0"' });
    const trader = await join(owner, "operator");
    const { page } = trader;
    await trader.open("/markets?market=ETH-USD");
    const book = page.getByRole("region", { name: "Order book" });
    const orders = page.getByRole("region", { name: "Table: Your open orders" });
    await page.getByLabel("Price (USD)").fill("10");
    await page.getByLabel("Size (ETH)").fill("3");
    await page.getByLabel("Reference").fill("first order");
    await page.getByRole("button", { name: "Place the order" }).click();
    const question = page.getByRole("dialog", { name: "Place this order?" });
    await question.getByText("30.00 USD").waitFor();
    await question.getByText("which pays and receives").waitFor();
    await question.getByRole("button", { name: "Place it" }).click();
    await orders.getByText("first order").waitFor();
    await orders.getByText("open", { exact: true }).waitFor();
    await book.getByText("your order").waitFor();
    await orders.getByRole("button", { name: "Reduce" }).click();
    await page.getByLabel("New total size").fill("2");
    await page.getByRole("dialog").getByRole("button", { name: "Reduce" }).click();
    await orders.getByText("2.00", { exact: true }).waitFor();
    await book.getByText(/^live/).waitFor();
    expect(await greyness()).toBe("none");

    await page.route("**/v1/orderbook?**", async (route) => {
      const answer = await route.fetch();
      const snapshot = (await answer.json()) as { bids: [string, string][] };
      await route.fulfill({ response: answer, json: { ...snapshot, bids: [["10", "5.00"]] } });
    });
    await book.getByText("This book is not the one of the service").waitFor();
    expect(await greyness()).toBe("grayscale(1)");
    await page.unroute("**/v1/orderbook?**");
    await book.getByText(/^live/).waitFor();
    await proxy.cut();
    await book.getByText("The service does not answer").waitFor();
    expect(await greyness()).toBe("grayscale(1)");
    await proxy.restore();
    await book.getByText(/^live/).waitFor();

    await orders.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Cancel the order" }).click();
    await page.getByText("No open orders").waitFor();
    await trader.close();

    function greyness(): Promise<string> {
      return page.evaluate(
        `getComputedStyle(document.querySelector("[aria-labelledby=book] table")).filter`,
      ) as Promise<string>;
    }
  });

  /** What is completed in the list: only the rows in sight are in the document, so it is scrolled to its end. */
  function idsInList(): Promise<string[]> {
    return ada.page.evaluate(`(async () => {
      const scroller = document.querySelector("section.scroller");
      const found = new Map();
      for (let top = 0; top < scroller.scrollHeight; top += scroller.clientHeight / 2) {
        scroller.scrollTop = top;
        await new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)));
        for (const row of scroller.querySelectorAll("tr[aria-rowindex]"))
          if (row.textContent.includes("completed"))
            found.set(Number(row.getAttribute("aria-rowindex")), row.querySelector("a").href.split("/").at(-1));
      }
      scroller.scrollTop = 0;
      return [...found].sort(([one], [other]) => one - other).map(([, id]) => id);
    })()`) as Promise<string[]>;
  }

  async function idsOfFile(): Promise<string[]> {
    const [download] = await Promise.all([
      ada.page.waitForEvent("download"),
      ada.page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const [, ...rows] = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\r\n");
    return rows.filter((row) => row.includes(",completed,")).map((row) => row.split(",")[0] ?? "");
  }

  async function newest(): Promise<string[]> {
    const { service } = running();
    const owner = await ada.token();
    const client = createBursar({ baseUrl: service.url, credentials: () => owner });
    const ids: string[] = [];
    for await (const { id } of client.transactions.list({ limit: 200 })) {
      ids.push(id);
      if (ids.length === rowsMax) break;
    }
    return ids;
  }
});

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

/** Whether a multiple of the step lies in the batch that ends here. */
function crosses(paid: number, step: number): boolean {
  return Math.floor(paid / step) !== Math.floor((paid - batchSize) / step);
}
