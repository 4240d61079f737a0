import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Waits until a page shows what it has read, and nothing moves. */
export async function settle(page: Page): Promise<void> {
  while (
    (await page
      .locator("main")
      .getByText(/^loading$/i)
      .count()) > 0
  )
    await page.waitForTimeout(20);
  await page.waitForTimeout(100);
}

/** What axe-core finds. It is evaluated by the debugger, so the policy of the page does not apply to it. */
export async function findBarriers(page: Page, { only }: { only?: string[] } = {}) {
  if (!(await page.evaluate("globalThis.axe !== undefined"))) await page.evaluate(axe);
  const options = {
    resultTypes: ["violations"],
    ...(only === undefined ? {} : { runOnly: { type: "rule", values: only } }),
  };
  const found = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as {
    violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[];
  };
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary}`),
  );
}

/** How far the page is wider than its window; what scrolls inside of the page does not count. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate("document.scrollingElement.scrollWidth - innerWidth") as Promise<number>;
}

const controls = `[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter((one) => !one.disabled && one.checkVisibility() && one.closest("[inert]") === null)`;

/** The controls that the Tab key does not reach, or that do not show that they have the focus. */
export async function findUnreachable(page: Page): Promise<string[]> {
  await page.evaluate(`{
    const controls = ${controls};
    globalThis.unreached = new Set(controls);
    document.activeElement?.blur();
    getSelection()?.removeAllRanges();
  }`);
  const count = (await page.evaluate("globalThis.unreached.size")) as number;
  const dark: string[] = [];
  // More than there are, because a control of a list can appear on the way.
  for (let presses = 0; presses < count * 2 + 10; presses++) {
    await page.keyboard.press("Tab");
    const seen = (await page.evaluate(`(() => {
      const one = document.activeElement;
      globalThis.unreached.delete(one);
      const { outlineStyle, outlineWidth } = getComputedStyle(one);
      const isShown = one === document.body || (outlineStyle !== "none" && parseFloat(outlineWidth) > 0);
      for (const gone of globalThis.unreached) if (!gone.isConnected) globalThis.unreached.delete(gone);
      return { left: globalThis.unreached.size, unseen: isShown ? undefined : one.outerHTML.slice(0, 120) };
    })()`)) as { left: number; unseen?: string };
    if (seen.unseen !== undefined) dark.push(`no visible focus: ${seen.unseen}`);
    if (seen.left === 0) return dark;
  }
  const left = (await page.evaluate(
    "[...globalThis.unreached].map((one) => 'not reached: ' + one.outerHTML.slice(0, 120))",
  )) as string[];
  return [...dark, ...left];
}
