import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Name and id of those whom the audit log shows for an action. The log shows the end of an id, and the whole one as its title. */
export async function actorsOf(page: Page, action: string): Promise<[string, string][]> {
  const rows = page.getByRole("row", { name: action }).filter({ has: page.locator("code[title]") });
  await rows.first().waitFor();
  const actors: [string, string][] = [];
  for (const row of await rows.all()) {
    const id = row.locator(".client code[title]").first();
    const [whole, end] = [(await id.getAttribute("title")) ?? "", await id.innerText()];
    expect(end).toBe(`…${whole.slice(-8)}`);
    const shown = await row.locator(".client").first().innerText();
    actors.push([shown.slice(0, -end.length).trim(), whole]);
  }
  return actors;
}
