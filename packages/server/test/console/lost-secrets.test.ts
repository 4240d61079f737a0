import { type Bursar, createBursar } from "@bursar/client";
import { beforeAll, describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";
import type { Visitor } from "../harness/console/visitor.js";

const running = useConsole();

/** The service shows a secret in one answer, which can be lost. */
describe.runIf(hasBrowser)("a webhook secret whose answer was lost", () => {
  let bursar: Bursar;
  let ada: Visitor;
  beforeAll(async () => {
    const { service, join } = running();
    const owner = await service.createTenant("100000");
    bursar = createBursar({ baseUrl: service.url, credentials: () => service.token(owner) });
    ada = await join(owner, "admin");
    ada.context.setDefaultTimeout(30_000);
  });

  /** The service gets the next request, and the page no answer. */
  async function loseNext(method: string, path: string): Promise<void> {
    let isLost = false;
    await ada.page.route(path, async (route) => {
      if (isLost || route.request().method() !== method) return route.continue();
      isLost = true;
      await route.fetch();
      await route.abort("connectionreset");
    });
  }
  const button = (name: string) => ada.page.getByRole("button", { name, exact: true });
  const unknown = () => ada.page.getByText("It is not known whether this had its effect").waitFor();
  const secret = () => ada.page.getByRole("dialog").getByText(/^whsec_/);
  const listed = async () => {
    const { data } = await bursar.webhookEndpoints.list().page();
    return data.map(({ url }) => new URL(url).pathname).sort();
  };

  it("was rotated: the page says so, and rotates once more", async () => {
    const { page, open } = ada;
    const { id } = await bursar.webhookEndpoints.create(
      { url: "http://127.0.0.1:9/rotated" },
      { idempotencyKey: "rotated" },
    );
    await open(`/webhooks/${id}`);
    await loseNext("POST", "**/rotate-secret");
    await button("Rotate the secret").click();
    await button("Rotate with the passkey").click();
    await unknown();
    await button("Rotate with the passkey").click();
    await page.getByText("The secret was rotated by an attempt whose answer was lost").waitFor();
    await button("Rotate once more").click();
    await button("Rotate with the passkey").click();
    await secret().waitFor();
    await button("I have stored it").click();
    await page.unroute("**/rotate-secret");
    await bursar.webhookEndpoints.delete(id);
  });

  it("is that of a new endpoint: the page says so, and where it is rotated", async () => {
    const { page, open } = ada;
    await loseNext("POST", "**/v1/webhook-endpoints");
    await open("/webhooks");
    await button("New endpoint").click();
    await page.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:9/made");
    await button("Create with the passkey").click();
    await unknown();
    await button("Create with the passkey").click();
    await page.getByText("The endpoint was created by an attempt whose answer was lost").waitFor();
    await page.getByRole("link", { name: "Open the endpoint" }).click();
    await button("Rotate the secret").waitFor();
    expect(await listed()).toEqual(["/made"]);
    await page.unroute("**/v1/webhook-endpoints");
  });

  it("is that of a new URL: the page says so", async () => {
    const { page } = ada;
    await loseNext("PATCH", "**/v1/webhook-endpoints/*");
    await button("Change").click();
    await page.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:9/moved");
    await button("Save with the passkey").click();
    await unknown();
    await button("Save with the passkey").click();
    await page.getByText("An attempt whose answer was lost has given the endpoint a new secret").waitFor();
    await button("Close").click();
    await page.unroute("**/v1/webhook-endpoints/*");
    expect(await listed()).toEqual(["/moved"]);
  });

  it("may be that of another endpoint: the page warns before it creates a second one", async () => {
    const { page, open } = ada;
    await loseNext("POST", "**/v1/webhook-endpoints");
    await open("/webhooks");
    await button("New endpoint").click();
    await page.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:9/first");
    await button("Create with the passkey").click();
    await unknown();
    await page.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:9/second");
    const warning = page.getByRole("alert").filter({ hasText: "http://127.0.0.1:9/first" });
    await warning.getByText("may have been created").waitFor();
    // The same again has its key.
    await page.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:9/first");
    await warning.waitFor({ state: "hidden" });
    await page.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:9/second");
    await button("Create with the passkey").click();
    await button("I have stored it").click();
    expect(await listed()).toEqual(["/first", "/moved", "/second"]);
    await page.unroute("**/v1/webhook-endpoints");
  });

  it("is forgotten with what was typed", async () => {
    const { page, open } = ada;
    await loseNext("POST", "**/v1/webhook-endpoints");
    await open("/webhooks");
    await button("New endpoint").click();
    await page.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:9/third");
    await button("Create with the passkey").click();
    await unknown();
    await page.getByRole("textbox", { name: "URL" }).fill("http://127.0.0.1:9/fourth");
    await button("Cancel").click();
    await button("New endpoint").click();
    await page.getByRole("alert").filter({ hasText: "http://127.0.0.1:9/third" }).waitFor();
    await button("Discard what was typed").click();
    await page.getByRole("alert").waitFor({ state: "hidden" });
    expect(await page.getByRole("textbox", { name: "URL" }).inputValue()).toBe("");
  });
});
