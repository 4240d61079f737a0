import { expect } from "vitest";
import type { Visitor } from "./visitor.js";

/** A person creates an endpoint, and its secret stays until they say that they have stored it. */
export async function storeShownSecret(visitor: Visitor, expectCreated: () => Promise<void>): Promise<void> {
  const { page, open } = visitor;
  await open("/webhooks");
  await page.getByRole("button", { name: "New endpoint" }).click();
  await page.getByLabel("URL").fill("http://127.0.0.1:9/hooks");
  // The second click of a mouse can land on the button that closes what is shown once.
  await page.getByRole("button", { name: "Create with the passkey" }).dblclick();
  const secret = page.getByRole("dialog").getByText(/^whsec_/);
  await secret.waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  const stored = page.getByRole("button", { name: "I have stored it" });
  await stored.dispatchEvent("click", { detail: 2 });
  await expectCreated();
  expect(await secret.isVisible()).toBe(true);
  await leaveAndStay(visitor);
  expect(await secret.isVisible()).toBe(true);
  await stored.click();
  await secret.waitFor({ state: "hidden" });
}

/** The way back does nothing, and the browser asks before it reloads the page, which the test declines. */
async function leaveAndStay({ page, faults }: Visitor): Promise<void> {
  const { href } = new URL(page.url());
  await page.evaluate("history.back()");
  await expect.poll(() => page.url()).toBe(href);
  const seen = faults.length;
  await page.evaluate("setTimeout(() => location.reload())");
  await expect.poll(() => faults.slice(seen)).toEqual(["dialog: "]);
  faults.splice(seen);
}
