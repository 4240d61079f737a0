import { randomUUID } from "node:crypto";
import { type Bursar, createBursar } from "@bursar/client";
import { beforeAll, describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";
import type { Visitor } from "../harness/console/visitor.js";

const running = useConsole();

/** A colleague of Ada changes the same object, by the API, while she has its page open. */
describe.runIf(hasBrowser)("a page of something that others change too", () => {
  let bursar: Bursar;
  let ada: Visitor;
  const once = () => ({ idempotencyKey: randomUUID() });
  beforeAll(async () => {
    const { service, join } = running();
    const owner = await service.createTenant("100000");
    bursar = createBursar({ baseUrl: service.url, credentials: () => service.token(owner) });
    ada = await join(owner, "admin");
    ada.context.setDefaultTimeout(40_000);
  });

  const createWallet = () => bursar.wallets.create({ name: "Hot", purpose: "payout" }, once());

  it("freezes a wallet that was frozen meanwhile, and does not unfreeze it", async () => {
    const { page, open } = ada;
    const { id } = await createWallet();
    await open(`/wallets/${id}`);
    await page.getByRole("button", { name: "Freeze", exact: true }).click();
    const question = page.getByRole("dialog", { name: "Freeze this wallet?" });
    await question.getByLabel("Reason").fill("stolen key");
    await bursar.wallets.freeze(id, { reason: "by a colleague" });
    await question.getByText("It is frozen already: by a colleague").waitFor();
    await question.locator("button[type=submit]").click();
    await question.waitFor({ state: "hidden" });
    expect(await bursar.wallets.get(id)).toMatchObject({ frozen: true, frozen_reason: "stolen key" });

    await page.getByRole("button", { name: "Unfreeze", exact: true }).click();
    const thaw = page.getByRole("dialog", { name: "Unfreeze this wallet?" });
    await thaw.waitFor();
    await bursar.wallets.unfreeze(id);
    await thaw.getByText("It is not frozen any more").waitFor();
    expect(await thaw.locator("button[type=submit]").isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
  });
});
