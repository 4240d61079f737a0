import { createBursar } from "@bursar/client";
import { expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";

const running = useConsole();

/** Streams carry events. Lists and books are read all the same, and nothing is asked for that the role does not allow. */
it.runIf(hasBrowser)("a role without events:read uses payments and markets, which are not live", async () => {
  const { service, join } = running();
  const owner = await service.createTenant("1000");
  const token = await service.token(owner);
  const bursar = createBursar({ baseUrl: service.url, credentials: () => token });
  const scopes = ["transactions:read", "transactions:write", "wallets:read", "orderbook:read", "orders:read"];
  await service.call("POST", "/v1/roles", token, { name: "clerk", scopes });
  const pay = (reference: string) =>
    bursar.transactions.create(
      { reference, asset: "USD", amount: "5" },
      { idempotencyKey: reference.replaceAll(" ", "-") },
    );
  await pay("rent of May");
  const cleo = await join(owner, "clerk", { name: "Cleo" });
  const { page } = cleo;
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() === 403) refused.push(response.url());
  });
  const sentence = page.getByText("This page is not live, because your role does not have events:read");

  await cleo.open("/transactions");
  await page.getByRole("link", { name: "rent of May" }).waitFor();
  await page.getByRole("status").getByText("not live").waitFor();
  await sentence.waitFor();
  await pay("rent of June");
  await page.getByRole("link", { name: "rent of June" }).waitFor();

  await cleo.open("/markets");
  const book = page.getByRole("region", { name: "Order book" });
  await book.getByText(/^not live, sequence/).waitFor();
  await book.getByText("The book is empty").waitFor();
  await sentence.waitFor();
  // Long enough for several readings.
  await page.waitForTimeout(8000);
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(refused).toEqual([]);
  await cleo.close();
});
