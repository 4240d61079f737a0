import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/**
 * The service gets the payment, and the page no answer until it is reloaded. Which payments are stored as sent is noted before the request
 * leaves: a page that is reloaded at any later moment still has the payment with its key.
 */
const loseAnswer = `{
  const send = globalThis.fetch;
  globalThis.fetch = async (url, init) => {
    if (init?.method !== "POST" || new URL(url).pathname !== "/v1/transactions") return send(url, init);
    const drafts = Object.values(sessionStorage).filter((value) => value.startsWith("{")).map(JSON.parse);
    const key = new Headers(init.headers).get("idempotency-key");
    const stored = drafts.filter((draft) => draft.sent !== undefined && draft.key === key);
    await send(url, init);
    globalThis.storedWhenSent = stored.map(({ sent }) => sent.reference);
    return new Promise(() => {});
  };
}`;

/** Sends a payment of 4 USD by the form of this page. */
export async function sendAndLoseAnswer(page: Page, origin: string, reference: string): Promise<void> {
  await page.goto(`${origin}/console/transactions/new`);
  await page.getByLabel("Reference").fill(reference);
  await page.getByLabel("Asset").selectOption("USD");
  await page.getByLabel("Amount").fill("4");
  await page.getByLabel("From", { exact: true }).fill("primary");
  await page.evaluate(loseAnswer);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("button", { name: "Send it" }).click();
  await expect.poll(() => page.evaluate("globalThis.storedWhenSent")).toEqual([reference]);
}

/** What a page says about a payment that another tab has sent. */
export function unanswered(page: Page, reference: string): Locator {
  return page.getByRole("region", { name: `Payment ${reference} without an answer` });
}
