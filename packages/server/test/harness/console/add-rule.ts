import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Adds a rule in the form of the policy, as a person does who has read nothing. A new rule asks for two people, unless they choose something else. */
export async function addRuleForTwo(page: Page, name: string, assets: string): Promise<void> {
  await page.getByRole("button", { name: "Add a rule" }).click();
  const rule = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: /^1\. / }) });
  await rule.getByLabel("Name").fill(name);
  await rule.getByLabel("Assets").fill(assets);
  expect(await rule.getByLabel("Action").inputValue()).toBe("require_approval");
  expect(await rule.getByRole("textbox", { name: "Approvals" }).inputValue()).toBe("2");
  expect(await rule.getByLabel("Only people approve").isChecked()).toBe(true);
}
