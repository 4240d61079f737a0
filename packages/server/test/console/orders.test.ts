import { createBursar } from "@bursar/client";
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { placeAndLoseAnswer } from "../harness/console/lose-answer.js";
import { orderOutcome } from "../harness/console/order-outcome.js";
import { useConsole } from "../harness/console/test-console.js";
import type { Visitor } from "../harness/console/visitor.js";
import { createTrader, type Trader } from "../harness/markets/trader.js";

const running = useConsole();

describe.runIf(hasBrowser)("an order", () => {
  let [buyer, seller] = [] as unknown as [Trader, Trader];
  let ada: Visitor;
  beforeAll(async () => {
    buyer = await createTrader(running().service, { USD: "100000" });
    seller = await createTrader(running().service, { ETH: "10" });
    ada = await running().join(buyer.owner, "operator");
  });

  it("says before and afterwards what it costs, and is shown as what has become of it", async () => {
    const { page } = ada;
    await seller.placed({ side: "sell", type: "limit", price: "2010", size: "1" });
    await ada.open("/markets?market=ETH-USD");
    await page.getByText("Good till cancelled").waitFor();
    const question = await fill("2010", "0.5", "crosses");
    await question.getByText("The book sells at 2010.00 USD now").waitFor();
    await question.getByText("at most 1005.00 USD").waitFor();
    await question.getByText("0.2 % (0.001 ETH) of what trades at once").waitFor();
    await question.getByText("about 0.499 ETH").waitFor();
    await question.getByRole("button", { name: "Place it" }).click();
    await orderOutcome(page).getByText("is filled: bought 0.50 ETH for 1005.00 USD, fee 0.001 ETH").waitFor();
    // The keyboard goes on where it was.
    expect(await focused(page)).toBe("Place the order");
    await orderOutcome(page).getByRole("link").click();
    await page.getByRole("heading", { name: "Order", level: 1, exact: true }).waitFor();
    await page.getByText("Received after the fee").waitFor();
    await page.locator("dd").getByText("0.499 ETH").waitFor();
  });

  it("at the market price buys for what it may spend, as it is estimated, also if it is asked for again", async () => {
    const { page } = ada;
    await seller.placed({ side: "sell", type: "limit", price: "2011", size: "1" });
    await ada.open("/markets?market=ETH-USD");
    await page.getByText("Good till cancelled").waitFor();
    await page.getByLabel("Type").selectOption("market");
    await page.getByRole("region", { name: "Order book" }).getByText(/^live/).waitFor();
    await page.getByLabel("Spend at most (USD)").fill("1500");
    await page.getByLabel("Size (ETH)").fill("0.6");
    await page.getByRole("button", { name: "Place the order" }).click();
    const question = page.getByRole("dialog", { name: "Place this order?" });
    for (const said of ["1500.00 USD", "about 2010.16666666 USD on average", "about 1206.10 USD"])
      await question.getByText(said).waitFor();
    await question.getByRole("button", { name: "Place it" }).click();
    await orderOutcome(page).getByText("is filled: bought 0.60 ETH for 1206.10 USD").waitFor();
    await page.getByLabel("Spend at most (USD)").fill("300");
    await placeAndLoseAnswer(page, { type: "market", quote_size: "300" });
    await page.reload();
    await page.getByText("the answer was lost").waitFor();
    expect(await page.getByLabel("Spend at most (USD)").inputValue()).toBe("300");
    expect(await page.getByLabel("Spend at most (USD)").isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Ask again" }).click();
    await orderOutcome(page).getByText("bought 0.14 ETH for 281.54 USD").waitFor();
    await page.getByLabel("Type").selectOption("limit");
  });

  it("at the market price is estimated up to an order of its own tenant, and ends there", async () => {
    const { page } = ada;
    await seller.placed({ side: "sell", type: "limit", price: "2013", size: "0.5" });
    const own = await buyer.placed({ side: "sell", type: "limit", price: "2012", size: "0.1" });
    await ada.open("/markets?market=ETH-USD");
    const orders = page.getByRole("region", { name: "Table: Your open orders" });
    await orders.getByRole("button", { name: "Cancel" }).waitFor();
    await page.getByText("Good till cancelled").waitFor();
    await page.getByRole("region", { name: "Order book" }).getByText(/^live/).waitFor();
    const crossing = await fill("2013", "2", "crosses");
    await crossing.getByText("An order of your own waits at 2012.00 USD").waitFor();
    await crossing.getByRole("button", { name: "Go back" }).click();
    await page.getByLabel("Type").selectOption("market");
    await page.getByLabel("Spend at most (USD)").fill("5000");
    await page.getByRole("button", { name: "Place the order" }).click();
    const question = page.getByRole("dialog", { name: "Place this order?" });
    await question.getByText("An order of your own waits at 2012.00 USD").waitFor();
    await question.getByText("at most 1000 others").waitFor();
    expect(await question.getByText("Nor does it know").count()).toBe(0);
    // What others sell below that price, which the tests before have left.
    await question.getByText("about 1528.36 USD").waitFor();
    await question.getByRole("button", { name: "Place it" }).click();
    await orderOutcome(page).getByText("bought 0.76 ETH for 1528.36 USD").waitFor();
    await page.getByLabel("Type").selectOption("limit");
    await buyer.send("DELETE", `/v1/orders/${own.id}`);
    await buyer.until(own.id, ({ state }) => state === "cancelled");
  });

  it("is placed and cancelled by the keyboard, and not by Enter pressed twice or a double click", async () => {
    const { page, changes } = ada;
    changes.splice(0);
    await ada.open("/markets?market=ETH-USD");
    const question = await fill("2000", "0.13", "rests");
    await question.getByRole("button", { name: "Go back" }).click();
    await page.getByLabel("Reference").press("Enter");
    const place = question.getByRole("button", { name: "Place it" });
    await expect.poll(() => place.getAttribute("aria-disabled")).toBe("false");
    expect(await focused(page)).toBe("Place this order?");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Place it");
    // The second click of a double click whose first one has opened the question.
    await place.hover();
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    expect(changes).toEqual([]);
    await page.keyboard.press("Enter");
    await orderOutcome(page).getByText("is open").waitFor();
    const orders = page.getByRole("region", { name: "Table: Your open orders" });
    await orders.getByRole("row", { name: "rests" }).getByText("open", { exact: true }).waitFor();
    await orders.getByRole("button", { name: "Cancel" }).focus();
    await page.keyboard.press("Enter");
    const cancelling = page.getByRole("dialog", { name: "Cancel this order?" });
    await cancelling.getByText("primary").waitFor();
    await cancelling.getByText("rests").waitFor();
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Cancel the order");
    await page.keyboard.press("Enter");
    await cancelling.waitFor({ state: "detached" });
    // As it is, and not as it was when the request was accepted.
    await page.getByText("No open orders").waitFor({ timeout: 1500 });
    await orderOutcome(page).getByText("was cancelled").waitFor();
    expect(await page.evaluate("document.activeElement.tagName")).not.toBe("BODY");
  });

  it("has a page of its own, which has nothing of the order that was shown before", async () => {
    const { page } = ada;
    const order = { side: "buy", type: "limit", price: "1990", size: "0.2" } as const;
    const [first, second] = [await buyer.placed(order), await buyer.placed(order)];
    await ada.open(`/orders/${second.id}`);
    await page.getByRole("button", { name: "Reduce" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type(first.id);
    await page.getByRole("option", { name: "order" }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator("dd").getByText(first.id).waitFor();
    await page.getByRole("button", { name: "Reduce" }).click();
    await page.getByLabel("New total size").fill("0.1");
    await page.goBack();
    await page.locator("dd").getByText(second.id).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it("of a wallet that was frozen is shown as rejected, and another is not offered", async () => {
    const { page } = ada;
    await ada.open("/markets?market=ETH-USD");
    const question = await fill("2000", "0.14", "too late");
    const { wallets } = createBursar({ baseUrl: running().service.url, credentials: () => buyer.token });
    await page.route("**/v1/orders", async (route) => {
      for await (const { id, role } of wallets.list()) if (role === "primary") await wallets.freeze(id);
      await route.continue();
    });
    await question.getByRole("button", { name: "Place it" }).click();
    await orderOutcome(page).getByText("was rejected: The wallet is frozen. WALLET_FROZEN").waitFor();
    await page.getByText("The primary wallet is frozen").waitFor();
    const again = await fill("2000", "0.14", "never");
    await again.getByText("The primary wallet is frozen").waitFor();
    expect(await again.getByRole("button", { name: "Place it" }).isDisabled()).toBe(true);
  });

  async function fill(price: string, size: string, reference: string): Promise<Locator> {
    const { page } = ada;
    await page.getByLabel("Price (USD)").fill(price);
    await page.getByLabel("Size (ETH)").fill(size);
    await page.getByLabel("Reference").fill(reference);
    await page.getByRole("button", { name: "Place the order" }).click();
    return page.getByRole("dialog", { name: "Place this order?" });
  }
});

async function focused(page: Page): Promise<string> {
  return (await page.evaluate("document.activeElement.textContent")) as string;
}
