import { createBursar } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";
import { createTrader } from "../harness/markets/trader.js";

const running = useConsole();

describe.runIf(hasBrowser)("the question before a payment", () => {
  it("asks again if one like it was sent meanwhile, and sends nothing once it was closed", async () => {
    const { service, join } = running();
    const { owner } = await createTrader(service, { USD: "100" });
    const bursar = createBursar({ baseUrl: service.url, credentials: () => service.token(owner) });
    const ada = await join(owner, "operator", { name: "Ada" });
    const { page } = ada;
    const question = page.getByRole("dialog", { name: "Send this payment?" });
    const ask = async () => {
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await question.getByText("The policy allows").waitFor();
    };
    await ada.open("/transactions/new");
    await page.getByLabel("Reference").fill("twin");
    await page.getByLabel("Asset").selectOption("USD");
    await page.getByLabel("Amount").fill("9");
    await ask();
    ada.changes.splice(0);

    // Closed while the earlier payments are looked at.
    let look = () => {};
    const looked = new Promise<void>((resolve) => {
      look = resolve;
    });
    await page.route("**/v1/transactions?reference=**", async (route) => {
      await looked;
      await route.continue();
    });
    const reading = page.waitForRequest("**/v1/transactions?reference=**");
    await question.getByRole("button", { name: "Send it" }).click();
    await reading;
    await question.getByRole("button", { name: "Go back" }).click();
    await question.waitFor({ state: "detached" });
    const answered = page.waitForResponse("**/v1/transactions?reference=**");
    look();
    await answered;
    await page.unrouteAll();

    await ask();
    await bursar.transactions.create({ reference: "twin", asset: "USD", amount: "9" });
    await question.getByRole("button", { name: "Send it" }).click();
    await question.getByText("Nothing was sent, because a payment like this one was sent").waitFor();
    const sent = () => ada.changes.filter((change) => change === "POST /v1/transactions");
    expect(sent()).toEqual([]);
    await question.getByRole("button", { name: "Send it" }).click();
    await question.waitFor({ state: "detached" });
    await expect.poll(sent).toEqual(["POST /v1/transactions"]);
    expect((await bursar.transactions.list({ reference: "twin" }).page()).data).toHaveLength(2);
    await ada.close();
  });
});
