import { createBursar, type Order, type Transaction } from "@bursar/client";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { orderAndLoseAnswer, payAndLoseAnswer, unanswered } from "../harness/console/lose-answer.js";
import { orderOutcome } from "../harness/console/order-outcome.js";
import { useConsole } from "../harness/console/test-console.js";
import type { Visitor } from "../harness/console/visitor.js";
import { createTrader, type Trader } from "../harness/markets/trader.js";

const running = useConsole();

describe.runIf(hasBrowser)("a person who may only pay", () => {
  it("names the asset by its code, pays, and is offered nothing that the role does not open", async () => {
    const { service, join } = running();
    const { owner, token } = await createTrader(service, { USD: "100" });
    const role = { name: "pay-only", scopes: ["transactions:write"] };
    expect((await service.call("POST", "/v1/roles", token, role)).status).toBe(201);
    const { page } = await join(owner, role.name);
    expect(await page.getByRole("navigation", { name: "Pages" }).getByRole("link").count()).toBe(0);
    await page.getByRole("link", { name: "New payment" }).click();
    await page.getByLabel("Reference").fill("only pays");
    await page.getByLabel("Asset").fill("USD");
    await page.getByLabel("Amount").fill("4");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("button", { name: "Send it" }).click();
    const accepted = page.getByRole("status").filter({ hasText: "was accepted" });
    await accepted.getByText(/^Payment tx_\S+ was accepted .*: only pays of 4 USD\.$/).waitFor();
    expect(await page.getByLabel("Reference").inputValue()).toBe("");
    // The answer is all that this person learns: it stays until they have done with it.
    await page.getByRole("link", { name: "Bursar" }).click();
    await page.getByRole("link", { name: "New payment" }).click();
    await accepted.getByText("only pays").waitFor();
    await page.reload();
    await accepted.getByText("only pays").waitFor();
    await accepted.getByRole("button", { name: /^Dismiss payment tx_/ }).click();
    await accepted.waitFor({ state: "detached" });
    await page.reload();
    await page.getByLabel("Reference").waitFor();
    expect(await accepted.count()).toBe(0);
  });

  it("learns what has become of a payment whose answer came after the page was left", async () => {
    const { service, join } = running();
    const { owner, token } = await createTrader(service, { USD: "100" });
    const role = { name: "pay-only", scopes: ["transactions:write"] };
    expect((await service.call("POST", "/v1/roles", token, role)).status).toBe(201);
    const { page } = await join(owner, role.name);
    let answer = () => {};
    const left = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route("**/v1/transactions", async (route) => {
      const response = await route.fetch();
      await left;
      await route.fulfill({ response });
    });
    await page.getByRole("link", { name: "New payment" }).click();
    await page.getByLabel("Reference").fill("left early");
    await page.getByLabel("Asset").fill("USD");
    await page.getByLabel("Amount").fill("4");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("button", { name: "Send it" }).click();
    await page.getByRole("button", { name: "Sending" }).waitFor();
    await page.getByRole("link", { name: "Bursar" }).click();
    await page.getByRole("link", { name: "New payment" }).waitFor();
    answer();
    await page.getByRole("link", { name: "New payment" }).click();
    await page.getByText(/^Payment tx_\S+ was accepted .*: left early of 4 USD\.$/).waitFor();
  });
});

/** What was sent and not answered is asked for again by its key, wherever its person is next, and is not typed again. */
describe.runIf(hasBrowser)("a request whose answer is lost", () => {
  let trader: Trader;
  let ada: Visitor;
  beforeAll(async () => {
    trader = await createTrader(running().service, { USD: "100000" });
    ada = await running().join(trader.owner, "operator");
  });

  it("of a payment stays as it is, and is asked for again after a reload", async () => {
    const { page } = ada;
    await payAndLoseAnswer(page, running().origin, "answer lost");
    for (const label of ["Reference", "Asset", "Amount", "From", "To"])
      expect([label, await page.getByLabel(label, { exact: true }).isDisabled()]).toEqual([label, true]);
    for (const name of ["Check the policy", "Sending", "Discard"])
      expect([name, await page.getByRole("button", { name }).isDisabled()]).toEqual([name, true]);
    await page.reload();
    await page.getByText("the answer was lost").waitFor();
    await logOutInAnotherTab("/transactions/new", "Payment answer lost");
    await page.getByText("the answer was lost").waitFor();
    expect(await page.getByLabel("Amount").isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByRole("heading", { name: "Transaction", level: 1, exact: true }).waitFor();
    expect(await paid("answer lost")).toHaveLength(1);
    await ada.open("/transactions/new");
    expect(await page.getByLabel("Reference").inputValue()).toBe("");
    expect(await unanswered(page, "Payment answer lost").count()).toBe(0);
  });

  it("of a payment is shown as under way, and not as lost, on a page that was left and is shown again", async () => {
    const { page } = ada;
    await payAndLoseAnswer(page, running().origin, "slow answer");
    await page.getByRole("link", { name: "Wallets" }).click();
    await page.getByRole("heading", { name: "Wallets", level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Sending" }).waitFor();
    expect(await page.getByText("the answer was lost").count()).toBe(0);
    await page.reload();
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByRole("heading", { name: "Transaction", level: 1, exact: true }).waitFor();
    expect(await paid("slow answer")).toHaveLength(1);
  });

  it("of a payment that is sent offline is not sent later by itself", async () => {
    const { page, context } = ada;
    onTestFinished(() => context.setOffline(false));
    await ada.open("/transactions/new");
    await page.getByLabel("Reference").fill("offline");
    await page.getByLabel("Asset").selectOption("USD");
    await page.getByLabel("Amount").fill("4");
    await page.getByLabel("From", { exact: true }).fill("primary");
    await context.setOffline(true);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    const question = page.getByRole("dialog", { name: "Send this payment?" });
    await question.getByText("It is not known whether a payment like this was sent").waitFor();
    await question.getByRole("button", { name: "Send it" }).click();
    await page.getByText("Nothing was sent").waitFor();
    await context.setOffline(false);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await question.getByRole("button", { name: "Go back" }).waitFor();
    expect(await paid("offline")).toEqual([]);
    await question.getByRole("button", { name: "Send it" }).click();
    await page.getByRole("heading", { name: "Transaction", level: 1, exact: true }).waitFor();
    expect(await paid("offline")).toHaveLength(1);
  });

  it("of a payment whose tab was closed is asked for in another one", async () => {
    const tab = await ada.context.newPage();
    await payAndLoseAnswer(tab, running().origin, "tab closed");
    await tab.close();
    await ada.open("/transactions/new");
    await ada.page.getByLabel("Reference").fill("typed again");
    await ada.page.getByLabel("Asset").selectOption("USD");
    await ada.page.getByLabel("Amount").fill("4.00");
    await ada.page.getByRole("button", { name: "Send", exact: true }).click();
    const question = ada.page.getByRole("dialog", { name: "Send this payment?" });
    await question.getByText("This would be a second payment").waitFor();
    await question.getByRole("button", { name: "Go back" }).click();
    const other = await ada.context.newPage();
    await other.goto(`${running().origin}/console/transactions/new`);
    await unanswered(other, "Payment tab closed").waitFor();
    await unanswered(ada.page, "Payment tab closed").getByRole("button", { name: "Ask again" }).click();
    await ada.page.getByRole("heading", { name: "Transaction", level: 1, exact: true }).waitFor();
    await other.getByText("tab closed of 4.00 USD was answered or forgotten in another tab").waitFor();
    expect(await unanswered(other, "Payment tab closed").count()).toBe(0);
    await other.close();
    expect(await paid("tab closed")).toHaveLength(1);
  });

  it("of an order stays as it is, and is asked for again after a reload and a logout", async () => {
    const { page } = ada;
    await orderAndLoseAnswer(page, running().origin, "0.11");
    await page.reload();
    await page.getByText("the answer was lost").waitFor();
    await logOutInAnotherTab("/markets", "Order to buy 0.11 in ETH-USD at 2000");
    await page.getByText("the answer was lost").waitFor();
    for (const label of ["Side", "Type", "Time in force", "Price (USD)", "Size (ETH)"])
      expect([label, await page.getByLabel(label).isDisabled()]).toEqual([label, true]);
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByRole("dialog", { name: "It may have been placed already" }).waitFor();
    await page.getByRole("button", { name: "Keep it" }).click();
    await page.getByRole("button", { name: "Ask again" }).click();
    const [placed, ...others] = await ordered("0.11");
    await page.getByText(`Order ${placed?.id} is open`).waitFor();
    expect(others).toEqual([]);
    expect(await page.getByLabel("Size (ETH)").isDisabled()).toBe(false);
    await cancelAndFind(placed?.id ?? "");
  });

  it("of an order whose tab was closed is asked for in another one", async () => {
    const tab = await ada.context.newPage();
    await orderAndLoseAnswer(tab, running().origin, "0.12");
    await tab.close();
    await ada.open("/markets?market=ETH-USD");
    await ada.page.getByLabel("Price (USD)").fill("1999");
    await ada.page.getByLabel("Size (ETH)").fill("0.120");
    await ada.page.getByRole("button", { name: "Place the order" }).click();
    const question = ada.page.getByRole("dialog", { name: "Place this order?" });
    await question.getByText("This would be a second order").waitFor();
    await question.getByRole("button", { name: "Go back" }).click();
    await ada.open("/markets?market=USDC-USD");
    const card = unanswered(ada.page, "Order to buy 0.12 in ETH-USD at 2000");
    await card.getByRole("button", { name: "Ask again" }).click();
    await card.waitFor({ state: "detached" });
    expect(await ordered("0.12")).toHaveLength(1);
  });

  it("of an order that is refused when it is asked for again can be edited as a new one", async () => {
    const { page } = ada;
    await orderAndLoseAnswer(page, running().origin, "0.15", "9000");
    await page.reload();
    await page.getByText("the answer was lost").waitFor();
    expect(await page.getByRole("button", { name: "Edit as a new order" }).count()).toBe(0);
    await page.route("**/v1/orders", (route) =>
      route.request().method() !== "POST"
        ? route.fallback()
        : route.fulfill({
            status: 422,
            json: {
              error: {
                code: "PRICE_OUT_OF_BAND",
                message: "The price is outside of the band.",
                details: [{ path: "body.price", reason: "outside" }],
                request_id: "req_1",
              },
            },
          }),
    );
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByText("PRICE_OUT_OF_BAND").waitFor();
    await page.getByRole("button", { name: "Edit as a new order" }).click();
    // What was sent is still warned of.
    await unanswered(page, "Order to buy 0.15 in ETH-USD at 9000").waitFor();
    expect(await page.getByLabel("Price (USD)").isDisabled()).toBe(false);
    expect(await page.getByLabel("Size (ETH)").inputValue()).toBe("0.15");
  });

  /** It may have had its effect, so it is not forgotten with what was only typed. */
  async function logOutInAnotherTab(path: string, what: string): Promise<void> {
    const tab = await ada.context.newPage();
    await tab.goto(`${running().origin}/console${path}`);
    await unanswered(tab, what).waitFor();
    await tab.getByRole("button", { name: "Log out" }).click();
    await ada.logIn();
    await tab.close();
  }

  /** An order that has ended has a page, is listed, and is found by its id. */
  async function cancelAndFind(id: string): Promise<void> {
    const { page } = ada;
    await orderOutcome(page).getByRole("link", { name: id }).click();
    await page.getByRole("heading", { name: "Order", level: 1, exact: true }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Cancel the order" }).click();
    await page.locator("dd").getByText("cancelled", { exact: true }).waitFor();
    await ada.open("/orders?state=cancelled");
    await page.getByRole("link", { name: `…${id.slice(-6)}` }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type(id);
    await page.getByRole("option", { name: "order" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Order", level: 1, exact: true }).waitFor();
  }

  const bursar = () =>
    createBursar({
      baseUrl: running().service.url,
      credentials: () => running().service.token(trader.owner),
    });

  async function paid(reference: string): Promise<Transaction[]> {
    return (await bursar().transactions.list({ reference }).page()).data;
  }

  async function ordered(size: string): Promise<Order[]> {
    return (await bursar().orders.list({ market: "ETH-USD" }).page()).data.filter(
      (order) => order.size === size,
    );
  }
});
