import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { grantableScopes } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { fillPath, routerPaths } from "../harness/console/console-pages.js";
import { fillTenant } from "../harness/console/fill-tenant.js";
import { findBarriers, findUnreachable, overflowOf, settle } from "../harness/console/look-at-page.js";
import { useConsole } from "../harness/console/test-console.js";
import type { Visitor } from "../harness/console/visitor.js";
import { createObjects } from "../harness/http/route-requests.js";
import type { WebhookReceiver } from "../harness/webhooks/webhook-receiver.js";

const pictures = fileURLToPath(new URL("../../../../docs/console/", import.meta.url));
const writesPictures = process.env["BURSAR_WRITE_CONSOLE_PICTURES"] === "1";
const wide = { width: 1280, height: 800 };
/** The width of WCAG 2.2, 1.4.10. */
const narrow = { width: 320, height: 640 };

/** What another width can break: it hides texts, replaces the menu by a button, and lets tables scroll. */
const rulesOfWidth = [
  ...["target-size", "scrollable-region-focusable", "aria-hidden-focus", "page-has-heading-one"],
  ...["button-name", "link-name", "label", "select-name"],
];

/** The columns that begin in sight at the narrow width, with room for a word. */
const firstColumns = [
  ["/transactions", ["Reference", "Amount", "State"]],
  ["/wallets", ["Name", "Available"]],
  ["/orders", ["Order", "Side", "Price", "Size", "State"]],
] as const;

/** The file name of a page's picture. */
function pictureOf(path: string): string {
  const name = path === "/" ? "overview" : path.slice(1).replaceAll("/$id", "-one").replaceAll("/", "-");
  return `${name}.webp`;
}

it.runIf(!writesPictures).each(routerPaths())("the documents show a picture of %s", (path) => {
  expect(readFileSync(`${pictures}../console.md`, "utf8")).toContain(`](console/${pictureOf(path)})`);
  expect(existsSync(`${pictures}${pictureOf(path)}`)).toBe(true);
});

/** Every page of the router, opened by somebody who may see all of them. A new page is among them by itself. */
describe.runIf(hasBrowser)("every page of the console", () => {
  const running = useConsole();
  let ada: Visitor;
  let objects: Record<string, string>;
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    const { service, join } = running();
    const owner = await service.createTenant("500000");
    const token = await service.token(owner);
    objects = await createObjects(service, token, owner.clientId);
    const filled = await fillTenant(service, owner, token);
    receiver = filled.receiver;
    objects = { ...objects, ...filled.objects };
    const role = { name: "everything", scopes: grantableScopes };
    expect((await service.call("POST", "/v1/roles", token, role)).status).toBe(201);
    ada = await join(owner, "everything", { context: { viewport: wide } });
  });

  afterAll(() => receiver.stop());

  it.each(routerPaths())("%s keeps its policy, and everybody can use it", async (path) => {
    const { page, faults } = ada;
    faults.splice(0);
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize(wide);
    await ada.open(fillPath(path, objects));
    await settle(page);
    if (writesPictures) await writePicture(path);
    const light = await findBarriers(page);
    const keyboard = await findUnreachable(page);
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await findBarriers(page, { only: ["color-contrast"] });
    await page.setViewportSize(narrow);
    const overflow = await overflowOf(page);
    const small = await findBarriers(page, { only: rulesOfWidth });
    expect({ light, dark, small, keyboard, overflow, faults }).toEqual({
      light: [],
      dark: [],
      small: [],
      keyboard: [],
      overflow: 0,
      faults: [],
    });
  });

  it("without a session is a login that everybody can use", async () => {
    const visitor = await running().visit({ context: { viewport: narrow } });
    await visitor.page.goto(`${running().origin}/console/wallets`);
    await visitor.page.getByRole("button", { name: "Log in with a passkey" }).waitFor();
    expect(await overflowOf(visitor.page)).toBe(0);
    expect(await findBarriers(visitor.page)).toEqual([]);
    // The refused token is the only thing that the browser reports.
    expect(visitor.faults).toEqual([expect.stringContaining("401")]);
    await visitor.close();
  });

  it("is found by its keys, by the menu and by Ctrl-K, without a mouse", async () => {
    const { page } = ada;
    await page.setViewportSize(wide);
    await ada.open("/");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("w");
    await page.getByRole("heading", { name: "Wallets", level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("transactions");
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Transactions", level: 1 }).waitFor();
    const focused = await page.evaluate("document.activeElement?.textContent");
    expect(focused).toBe("Transactions");
  });

  it("shows first what counts on a narrow screen", async () => {
    const { page } = ada;
    await page.setViewportSize(narrow);
    for (const [path, titles] of firstColumns) {
      await ada.open(path);
      // The widths of the columns are those of the rows.
      await page.locator("main tbody tr[aria-rowindex]").first().waitFor();
      await settle(page);
      const inSight = () =>
        page.evaluate(`[...document.querySelectorAll("main thead th")]
          .filter((one) => one.getBoundingClientRect().left <= innerWidth - 60).map((one) => one.textContent)`);
      // A live table is drawn again when its connection is new, and has no columns in between.
      await expect.poll(async () => [path, await inSight()], { timeout: 10_000 }).toEqual([path, titles]);
    }
  });

  it("is found again right after it was closed", async () => {
    const { page } = ada;
    await page.setViewportSize(wide);
    await ada.open("/");
    const find = page.getByRole("dialog", { name: "Find" });
    const press = (key: string, windowsVirtualKeyCode: number, modifiers = 0) =>
      ada.cdp.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key, windowsVirtualKeyCode, modifiers });
    await page.keyboard.press("Control+k");
    await find.waitFor();
    for (let times = 0; times < 10; times++) {
      // Both are on their way before the dialog has said that it was closed.
      await Promise.all([press("Escape", 27), press("k", 75, 2)]);
      await find.waitFor({ timeout: 5000 });
      await page.waitForTimeout(50);
      expect(await find.count()).toBe(1);
    }
    await page.keyboard.press("Escape");
    await find.waitFor({ state: "detached" });
  });

  async function writePicture(path: string): Promise<void> {
    mkdirSync(pictures, { recursive: true });
    const { data } = await ada.cdp.send("Page.captureScreenshot", { format: "webp", quality: 60 });
    writeFileSync(`${pictures}${pictureOf(path)}`, Buffer.from(data, "base64"));
  }
});
