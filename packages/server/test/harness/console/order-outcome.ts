import type { Locator, Page } from "playwright-core";

/** What the form says about the order that was placed with it. */
export function orderOutcome(page: Page): Locator {
  return page.locator("form .notice", { hasText: /^Order ord_/ });
}
