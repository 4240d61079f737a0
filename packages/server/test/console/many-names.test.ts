import { createBursar } from "@bursar/client";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";

const running = useConsole();

/** A list that never ends, as the page reads it: copies of one row with other ids and names. */
async function fillList(page: Page, path: RegExp, row: object, prefix: string): Promise<void> {
  let pages = 0;
  await page.route(path, async (route) => {
    pages += 1;
    const data = Array.from({ length: 200 }, (_, index) => ({
      ...row,
      name: `copy ${pages} ${index}`,
      id: `${prefix}_${String(pages * 1000 + index).padStart(26, "0")}`,
    }));
    await route.fulfill({ json: { data, next_cursor: `c${pages}`, has_more: true } });
  });
}

describe.runIf(hasBrowser)("a tenant with more than 1000 wallets or people", () => {
  it("sees what is wrong with a payment before it is sent", async () => {
    const { service, join } = running();
    const tenant = await service.createTenant("100");
    const bursar = createBursar({ baseUrl: service.url, credentials: () => service.token(tenant) });
    const { data } = await bursar.wallets.list().page();
    const primary = data.find(({ role }) => role === "primary");
    const settlement = data.find(({ role }) => role === "settlement");
    if (primary === undefined || settlement === undefined) throw new Error("a tenant has both");
    await bursar.wallets.freeze(settlement.id);
    const { page, open, close } = await join(tenant, "operator");
    await fillList(page, /\/v1\/wallets\?/, { ...primary, role: null }, "wlt");
    await open("/transactions/new");
    await page.getByLabel("Reference").fill("large");
    await page.getByLabel("Asset").selectOption("USD");
    await page.getByLabel("Amount").fill("5000");
    await page.getByLabel("From", { exact: true }).fill(primary.id);
    await page.getByLabel("To", { exact: true }).fill(settlement.id);
    await page.locator("form").getByText("It is frozen: what it receives stays there").first().waitFor();
    const send = page.getByRole("button", { name: "Send", exact: true });
    const question = page.getByRole("dialog", { name: "Send this payment?" });
    await send.click();
    await question.getByText("has only 100.00 USD").waitFor();
    await question.getByText("The wallet that would be paid is frozen").waitFor();
    await question.getByText(`primary ${primary.id}`).waitFor();
    await question.getByRole("button", { name: "Go back" }).click();

    await bursar.wallets.freeze(primary.id);
    await open("/transactions/new");
    await send.click();
    await question.getByText("The wallet that would pay is frozen").waitFor();
    await expect.poll(() => question.getByRole("button", { name: "Send it" }).isDisabled()).toBe(true);
    await question.getByRole("button", { name: "Go back" }).click();

    await page.getByLabel("From", { exact: true }).fill("");
    await send.click();
    await question.getByText("It is not known what the wallet that would pay has").waitFor();
    await close();
  });

  it("chooses which person a name means", async () => {
    const { service, join } = running();
    const tenant = await service.createTenant("100");
    const bursar = createBursar({ baseUrl: service.url, credentials: () => service.token(tenant) });
    const { page, open, close } = await join(tenant, "admin");
    const [person] = (await bursar.people.list().page()).data;
    await fillList(page, /\/v1\/people\?/, { ...person }, "cli");
    const names = page.waitForResponse((answer) => answer.url().includes("cursor=c5"));
    await open("/audit");
    await names;
    await page.getByLabel("Client").fill("copy 1 7");
    await page.keyboard.press("Enter");
    await page.getByText("Not all names are known here").waitFor();
    expect(new URL(page.url()).search).toBe("");
    await close();
  });
});
