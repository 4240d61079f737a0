import type { Locator } from "playwright-core";

/** A double click whose second half comes before the page was drawn again. That of a mouse is sometimes later. */
export async function clickTwice(button: Locator): Promise<void> {
  await button.evaluate((element) => {
    const { click } = element as unknown as { click: () => void };
    click.call(element);
    click.call(element);
  });
}
