import { setTimeout as sleep } from "node:timers/promises";
import { createBursar } from "@bursar/client";
import { expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";

const running = useConsole();

it.runIf(hasBrowser)("Enter opens nothing that was found for another text", async () => {
  const { service, join } = running();
  const owner = await service.createTenant("1000");
  const token = await service.token(owner);
  const bursar = createBursar({ baseUrl: service.url, credentials: () => token });
  const pay = (reference: string) =>
    bursar.transactions.create({ reference, asset: "USD", amount: "5" }, { idempotencyKey: reference });
  await pay("rent-of-may");
  const { id } = await pay("wages-of-june");
  const ada = await join(owner, "viewer");
  const { page } = ada;
  await ada.open("/account");
  await page.route("**/v1/search?q=wages*", async (route) => {
    await sleep(3000);
    await route.continue();
  });
  await page.keyboard.press("Control+K");
  const find = page.getByRole("dialog", { name: "Find" });
  const field = find.getByRole("combobox");
  await field.fill("rent-of-may");
  await find.getByRole("option", { name: "rent-of-may" }).waitFor();
  await field.fill("wages-of-june");
  await field.press("Enter");
  await find.getByText("Looking").waitFor();
  await find.getByRole("option", { name: "wages-of-june" }).waitFor();
  await field.press("Enter");
  await page.waitForURL(`**/transactions/${id}`);
  expect(await find.count()).toBe(0);
  await ada.close();
});
