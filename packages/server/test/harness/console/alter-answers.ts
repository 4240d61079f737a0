import type { Page } from "playwright-core";

/** What the service answers is shown as if it were something else. */
export async function alterAnswers(
  page: Page,
  path: string,
  alter: (body: Record<string, unknown>) => object,
): Promise<void> {
  await page.route(path, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: alter((await response.json()) as Record<string, unknown>) });
  });
}
