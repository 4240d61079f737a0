import { describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";

describe.runIf(hasBrowser)("a person whose session has ended", () => {
  const running = useConsole();

  it("finds a chosen role and the new name of a passkey again after logging in again", async () => {
    const { service } = running();
    const tenant = await service.createTenant("100");
    const ada = await running().join(tenant, "admin");
    const bob = await running().join(tenant, "viewer", { name: "Bob" });
    const { page } = ada;
    const logInAgain = async () => {
      await ada.context.clearCookies();
      await page.reload();
      await ada.logIn();
    };
    await ada.open("/people");
    await page.getByRole("link", { name: "Bob" }).click();
    await page.getByLabel("Role").selectOption("operator");
    await logInAgain();
    await expect.poll(() => page.getByLabel("Role").inputValue()).toBe("operator");

    await ada.open("/account");
    const rename = async () => {
      await page.getByRole("button", { name: "Rename" }).click();
      return page.getByRole("dialog", { name: "Rename the passkey" }).getByLabel("Name");
    };
    await (await rename()).fill("Laptop in Oslo");
    await logInAgain();
    expect(await (await rename()).inputValue()).toBe("Laptop in Oslo");
    await Promise.all([ada.close(), bob.close()]);
  });

  it("finds the chosen scopes of a client again, which are given when it is asked for", async () => {
    const { service } = running();
    const tenant = await service.createTenant("100");
    const ada = await running().join(tenant, "admin");
    const token = await service.token(tenant);
    const body = { name: "Payroll", scopes: ["events:read"] };
    const created = await service.call("POST", "/v1/clients", token, body);
    const { id } = (await created.json()) as { id: string };
    const scope = (name: string) =>
      ada.page.getByRole("group", { name: "Scopes" }).getByRole("checkbox", { name, exact: true });
    const scopesOf = async () => {
      const answer = await service.call("GET", `/v1/clients/${id}`, token);
      return ((await answer.json()) as { scopes: string[] }).scopes;
    };
    await ada.open(`/clients/${id}`);
    await scope("wallets:read").check();
    await scope("events:read").uncheck();
    await ada.context.clearCookies();
    await ada.page.reload();
    await ada.logIn();
    await scope("wallets:read").waitFor();
    expect([await scope("wallets:read").isChecked(), await scope("events:read").isChecked()]).toEqual([
      true,
      false,
    ]);
    expect(await scopesOf()).toEqual(["events:read"]);
    await ada.page.getByRole("button", { name: "Set the scopes with the passkey" }).click();
    await expect.poll(scopesOf).toEqual(["wallets:read"]);
    await ada.close();
  });
});
