import { type Bursar, createBursar } from "@bursar/client";
import { beforeAll, describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";
import type { Visitor } from "../harness/console/visitor.js";
import { createTrader } from "../harness/markets/trader.js";

const running = useConsole();

/** What follows `?` in the address of a page, which anybody can have written. */
describe.runIf(hasBrowser)("the address of a page", () => {
  let bursar: Bursar;
  let ada: Visitor;
  beforeAll(async () => {
    const { service, join } = running();
    const { owner } = await createTrader(service, { USD: "100" });
    bursar = createBursar({ baseUrl: service.url, credentials: () => service.token(owner) });
    ada = await join(owner, "admin");
  });

  it.each(["2031", "true", "null", "1e3", "20311234567890123456", "{}", '"quoted"', "a+b c&d=%"])(
    "finds the payment with the reference %s",
    async (reference) => {
      const { page, open } = ada;
      await bursar.transactions.create({ reference, asset: "USD", amount: "1" });
      await open(`/transactions?${new URLSearchParams({ reference })}`);
      await page.getByRole("row").getByText(reference, { exact: true }).waitFor();
      expect(await page.getByLabel("Reference").inputValue()).toBe(reference);
      await page.reload();
      await page.getByRole("row").getByText(reference, { exact: true }).waitFor();
    },
  );

  it.each(["transactions", "orders", "events", "audit"])("says on /%s nothing but filters", async (path) => {
    const { page, open, faults } = ada;
    const names = ["state", "asset", "wallet", "client", "kind", "actor", "from", "__proto__", "utm_source"];
    const search = new URLSearchParams(names.map((name): [string, string] => [name, "{}"]));
    await open(`/${path}?${search}`);
    await expect.poll(() => new URL(page.url()).searchParams.has("utm_source")).toBe(false);
    expect(await page.getByText("Minified React error").count()).toBe(0);
    expect(faults).toEqual([]);
  });
});
