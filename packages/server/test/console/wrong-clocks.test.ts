import { createBursar } from "@bursar/client";
import { beforeAll, describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { payAndLoseAnswer, unanswered } from "../harness/console/lose-answer.js";
import { useConsole } from "../harness/console/test-console.js";
import type { Visitor } from "../harness/console/visitor.js";
import { createTrader, type Trader } from "../harness/markets/trader.js";

const hourMs = 3_600_000;
const running = useConsole();

/** The clock of a person's computer decides nothing: the time is that of the service. */
describe.runIf(hasBrowser)("on a computer whose clock is wrong", () => {
  let trader: Trader;
  let ada: Visitor;
  const setAhead = (hours: number) => ada.context.clock.setSystemTime(Date.now() + hours * hourMs);
  beforeAll(async () => {
    trader = await createTrader(running().service, { USD: "100000" });
    ada = await running().join(trader.owner, "operator");
  });

  it("a payment that was made a moment ago is warned of", async () => {
    const { page, open } = ada;
    const { url, token } = running().service;
    const bursar = createBursar({ baseUrl: url, credentials: () => token(trader.owner) });
    await bursar.transactions.create({ reference: "rent", asset: "USD", amount: "4" });
    await setAhead(25);
    await open("/transactions/new");
    await page.getByLabel("Reference").fill("rent");
    await page.getByLabel("Asset").selectOption("USD");
    await page.getByLabel("Amount").fill("4");
    await page.getByLabel("From", { exact: true }).fill("primary");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("alert").getByText("This would be another one").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Discard" }).click();
  });

  it("a payment without an answer is not forgotten", async () => {
    const { page, open } = ada;
    await setAhead(0);
    await payAndLoseAnswer(page, running().origin, "answer lost");
    await setAhead(31 * 24);
    await page.reload();
    await page.getByText("the answer was lost").waitFor();
    const tab = await ada.context.newPage();
    await tab.goto(`${running().origin}/console/transactions/new`);
    await unanswered(tab, "Payment answer lost").waitFor();
    await setAhead(0);
    await open("/transactions/new");
    await page.getByText("the answer was lost").waitFor();
  });

  it("a passkey confirms, and an invitation is as long valid as it is", async () => {
    const { page, open } = await running().join(trader.owner, "admin");
    await page.context().clock.setSystemTime(Date.now() + 25 * hourMs);
    await open("/people");
    await page.getByRole("button", { name: "Invite" }).click();
    await page.getByLabel("Email").fill("grace@treasury.example");
    await page.getByLabel("Name", { exact: true }).fill("Grace");
    await page.getByLabel("Role").selectOption("viewer");
    await page.getByRole("button", { name: "Invite with the passkey" }).click();
    await page.getByRole("button", { name: "I have kept it" }).click();
    const grace = page.getByRole("row").filter({ hasText: "grace@treasury.example" });
    await expect.poll(() => grace.innerText()).toMatch(/\b(29|30) min/);
  });
});
