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

  it("shows the statement of a wallet that gets its first money", async () => {
    const { page, open } = ada;
    const { id } = await createWallet();
    await open(`/wallets/${id}`);
    await page.getByText("never held anything").waitFor();
    await bursar.transactions.create({
      reference: "first",
      asset: "USD",
      amount: "5",
      destination: { wallet_id: id },
    });
    await page.getByRole("table", { name: "Balances" }).waitFor();
    await page.getByRole("heading", { name: "Statement" }).waitFor();
  });

  const change = () => ada.page.getByRole("button", { name: "Change", exact: true });
  const save = () => ada.page.getByRole("button", { name: "Save with the passkey" });
  /** Beside the button that copies the command of the page. */
  const url = () => ada.page.getByRole("textbox", { name: "URL" });
  const createEndpoint = (path: string) =>
    bursar.webhookEndpoints.create(
      { url: `http://127.0.0.1:9/${path}`, events: ["transaction.updated", "wallet.updated"] },
      once(),
    );

  it("saves of an endpoint only what was changed in the form", async () => {
    const { page, open } = ada;
    const { id } = await createEndpoint("one");
    await open(`/webhooks/${id}`);
    await change().click();
    await url().fill("http://127.0.0.1:9/two");
    await save().click();
    await page.getByRole("button", { name: "I have stored it" }).click();
    await page.getByText("http://127.0.0.1:9/two").first().waitFor();
    await change().click();
    expect(await url().inputValue()).toBe("http://127.0.0.1:9/two");
    await page.getByRole("button", { name: "Cancel", exact: true }).click();

    await bursar.webhookEndpoints.change(id, { events: ["order.updated"] });
    await open(`/webhooks/${id}`);
    await change().click();
    await page.getByLabel("Description").fill("treasury");
    await save().click();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await bursar.webhookEndpoints.get(id)).toMatchObject({
      url: "http://127.0.0.1:9/two",
      description: "treasury",
      events: ["order.updated"],
    });
  });

  it("asks which of two changes of one field of an endpoint is meant", async () => {
    const { page, open } = ada;
    const { id } = await createEndpoint("three");
    const described = async () => (await bursar.webhookEndpoints.get(id)).description;
    await open(`/webhooks/${id}`);
    await change().click();
    await page.getByLabel("Description").fill("of Ada");
    // Before the page reads it again.
    await bursar.webhookEndpoints.change(id, { description: "of a colleague" });
    await save().click();
    const conflict = page
      .getByRole("alert")
      .filter({ hasText: "Somebody has changed the description meanwhile, to of a colleague" });
    await conflict.waitFor();
    expect([await described(), await save().isDisabled()]).toEqual(["of a colleague", true]);
    await conflict.getByRole("button", { name: "Keep mine" }).click();
    await save().click();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await described()).toBe("of Ada");

    await change().click();
    await page.getByLabel("Description").fill("of Ada again");
    await bursar.webhookEndpoints.change(id, { description: "of a colleague again" });
    await conflict.getByRole("button", { name: "Use theirs" }).click();
    expect(await page.getByLabel("Description").inputValue()).toBe("of a colleague again");
    expect(await save().isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
  });

  it("does not grant a scope again that was taken away meanwhile", async () => {
    const { page, open } = ada;
    const { id } = await bursar.clients.create(
      { name: "Payroll", scopes: ["wallets:read", "orders:read", "transactions:write"] },
      once(),
    );
    const scope = (name: string) =>
      page.getByRole("group", { name: "Scopes" }).getByRole("checkbox", { name, exact: true });
    await open(`/clients/${id}`);
    await scope("events:read").check();
    await scope("orders:read").uncheck();
    await bursar.clients.change(id, { scopes: ["wallets:read", "orders:read"] });
    await open(`/clients/${id}`);
    await page.getByText("Adds events:read. Removes orders:read.").waitFor();
    expect(await scope("transactions:write").isChecked()).toBe(false);
    // Also not if the page has not read it again yet.
    await bursar.clients.change(id, { scopes: ["orders:read", "orderbook:read"] });
    await page.getByRole("button", { name: "Set the scopes with the passkey" }).click();
    const granted = async () => [...(await bursar.clients.get(id)).scopes].sort();
    await expect.poll(granted).toEqual(["events:read", "orderbook:read"]);
    await page.getByText("Adds events:read").waitFor({ state: "hidden" });
  });
});
