import { expect } from "vitest";
import type { Visitor } from "./visitor.js";

/** A person creates an endpoint, and its secret stays until they say that they have stored it. */
export async function storeShownSecret(
  { page, open }: Visitor,
  expectCreated: () => Promise<void>,
): Promise<void> {
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
  await stored.click();
  await secret.waitFor({ state: "hidden" });
}
