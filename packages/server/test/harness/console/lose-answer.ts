import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/**
 * The service gets the request, and the page no answer until it is reloaded. What is stored as sent is noted before the request leaves: a
 * page that is reloaded at any later moment still has it with its key.
 */
const loseAnswer = `(path) => {
  const send = globalThis.fetch;
  globalThis.fetch = async (url, init) => {
    if (init?.method !== "POST" || new URL(url).pathname !== path) return send(url, init);
    const drafts = Object.values(sessionStorage).filter((value) => value.startsWith("{")).map(JSON.parse);
    const key = new Headers(init.headers).get("idempotency-key");
    const stored = drafts.filter((draft) => draft.sent !== undefined && draft.key === key);
    await send(url, init);
    globalThis.storedWhenSent = stored.map(({ sent }) => sent);
    return new Promise(() => {});
  };
}`;

const storedWhenSent = (page: Page) => expect.poll(() => page.evaluate("globalThis.storedWhenSent"));

/** Sends a payment of 4 USD by the form of this page. */
export async function payAndLoseAnswer(page: Page, origin: string, reference: string): Promise<void> {
  await page.goto(`${origin}/console/transactions/new`);
  await page.getByLabel("Reference").fill(reference);
  await page.getByLabel("Asset").selectOption("USD");
  await page.getByLabel("Amount").fill("4");
  await page.getByLabel("From", { exact: true }).fill("primary");
  await page.evaluate(`(${loseAnswer})("/v1/transactions")`);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("button", { name: "Send it" }).click();
  await storedWhenSent(page).toMatchObject([{ reference }]);
}

/** Places an order to buy this much ETH by the form of this page. */
export async function orderAndLoseAnswer(
  page: Page,
  origin: string,
  size: string,
  price = "2000",
): Promise<void> {
  await page.goto(`${origin}/console/markets?market=ETH-USD`);
  await page.getByLabel("Price (USD)").fill(price);
  await page.getByLabel("Size (ETH)").fill(size);
  await placeAndLoseAnswer(page, { size });
}

/** Places the order that the form of this page has, which is sent with these fields. */
export async function placeAndLoseAnswer(page: Page, fields: object): Promise<void> {
  await page.evaluate(`(${loseAnswer})("/v1/orders")`);
  await page.getByRole("button", { name: "Place the order" }).click();
  await page.getByRole("button", { name: "Place it" }).click();
  await storedWhenSent(page).toMatchObject([fields]);
}

/** What a page says about what another tab has sent, such as `Payment rent`. */
export function unanswered(page: Page, what: string): Locator {
  return page.getByRole("region", { name: `${what} without an answer` });
}
