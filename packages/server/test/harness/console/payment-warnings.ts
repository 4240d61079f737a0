import { randomUUID } from "node:crypto";
import type { Bursar } from "@bursar/client";
import type { Locator, Route } from "playwright-core";
import { expect } from "vitest";
import type { Visitor } from "./visitor.js";

const network = "eip155:31337";
const address = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const label = "Supplier Müller";

const refusal = { code: "INTERNAL_ERROR", message: "The request failed.", request_id: "req_1" };
/** Final for the client, so that nothing is tried again meanwhile. */
const refuse = (route: Route) => route.fulfill({ status: 403, json: { error: refusal } });

/**
 * Types payments that are not sent: one to a listed address by its label, one to a frozen wallet, one from it, one that was paid today, and
 * one to a name that could mean two things. What the page says before is what is seen.
 */
export async function seeWarningsOfPayments({ open, page }: Visitor, bursar: Bursar, paid: string) {
  const key = () => ({ idempotencyKey: randomUUID() });
  const createWallet = (name: string) =>
    bursar.wallets.create({ name, purpose: "payout", network: "book" }, key());
  await bursar.destinations.create({ label, network, address }, key());
  await bursar.wallets.freeze((await createWallet("Frozen")).id);

  // The page knows of an asset on a chain, and the service of none: it refuses what the page may not send.
  await page.route("**/v1/assets", async (route) => {
    const answer = await route.fetch();
    const { data } = (await answer.json()) as { data: object[] };
    await route.fulfill({
      response: answer,
      json: { data: [...data, { ...data[0], code: "ETH.DEV", network }] },
    });
  });
  const chain = { id: network, coin: "ETH.DEV", fee_max: "0.05", assets: ["ETH.DEV"] };
  await page.route("**/v1/networks", (route) => route.fulfill({ json: { data: [chain] } }));
  const toLabel = await ask({ reference: "by label", asset: "ETH.DEV", amount: "1", to: label });
  await page.locator("form").getByText(address).first().waitFor();
  await toLabel.getByText(`${label} ${address}`).waitFor();
  await toLabel.getByText("paid by the same wallet on top, at most 0.05 ETH.DEV").waitFor();
  await expect.poll(() => sendIt(toLabel).isDisabled()).toBe(true);

  const notNumber = await ask({ reference: "not a number", asset: "USD", amount: "1e3" });
  await page.getByText("must be a decimal number, such as 125.50").waitFor();
  expect(await notNumber.count()).toBe(0);
  const tooMuch = await ask({ reference: "too much", asset: "USD", amount: "123456789012.00" });
  await tooMuch.getByText("The wallet that would pay has only").waitFor();

  const malformed = await ask({ reference: "malformed", asset: "USD", amount: "1.001" });
  await malformed.getByText("AMOUNT_PRECISION_EXCEEDED").waitFor();
  expect(await sendIt(malformed).isDisabled()).toBe(true);
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Send this payment?");

  const toFrozen = await ask({ reference: "to frozen", asset: "USD", amount: "5", to: "Frozen" });
  await page.locator("form").getByText("It is frozen: what it receives stays there").first().waitFor();
  await toFrozen.getByText("The wallet that would be paid is frozen").waitFor();
  expect(await sendIt(toFrozen).isDisabled()).toBe(false);

  const fromFrozen = await ask({ reference: "from frozen", asset: "USD", amount: "5", from: "Frozen" });
  await fromFrozen.getByText("The wallet that would pay is frozen").waitFor();
  expect(await sendIt(fromFrozen).isDisabled()).toBe(true);

  const again = await ask({ reference: paid, asset: "USD", amount: "25.0" });
  await again.getByText("within the last day").waitFor();
  const other = await ask({ reference: paid, asset: "USD", amount: "25.01" });
  await other.getByText("and another amount, 25.00 USD, was sent within the last day").waitFor();
  expect(await other.getByText("Network fee").count()).toBe(0);
  const elsewhere = await ask({ reference: paid, asset: "USD", amount: "25.01", to: "Frozen" });
  // The button says so until the policy has answered and the earlier payments are read.
  await elsewhere.getByText("This payment needs approval").waitFor();
  await sendIt(elsewhere).waitFor();
  expect(await elsewhere.getByText("within the last day").count()).toBe(0);

  await page.route("**/v1/transactions?reference=**", refuse);
  const unread = await ask({ reference: paid, asset: "USD", amount: "25.0" });
  await unread.getByText("It is not known whether a payment like this was sent").waitFor();
  await page.unroute("**/v1/transactions?reference=**");

  // Names are read again before anything is sent. If they cannot be, it was not sent, and can be edited.
  const unsent = await ask({ reference: "unsent", asset: "USD", amount: "5", to: "Frozen" });
  await sendIt(unsent).waitFor();
  await page.route("**/v1/wallets?**", refuse);
  await sendIt(unsent).click();
  await page.getByText("Nothing was sent, because the names could not be read again").waitFor();
  expect(await page.getByLabel("Amount").isDisabled()).toBe(false);
  expect((await bursar.transactions.list({ reference: "unsent" }).page()).data).toEqual([]);
  await page.unroute("**/v1/wallets?**");

  await createWallet(label);
  await fill({ reference: "ambiguous", asset: "ETH.DEV", amount: "1", to: label });
  await page.getByText("A wallet and a listed address have this name").waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.getByRole("button", { name: "Discard" }).click();
  for (const path of ["**/v1/assets", "**/v1/networks"]) await page.unroute(path);

  interface Typed {
    reference: string;
    asset: string;
    amount: string;
    from?: string;
    to?: string;
  }

  async function fill({ reference, asset, amount, from = "", to = "" }: Typed): Promise<void> {
    await open("/transactions/new");
    await page.getByLabel("Reference").fill(reference);
    await page.getByLabel("Asset").selectOption(asset);
    await page.getByLabel("Amount").fill(amount);
    await page.getByLabel("From", { exact: true }).fill(from);
    await page.getByLabel("To", { exact: true }).fill(to);
  }

  async function ask(typed: Typed): Promise<Locator> {
    await fill(typed);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    return page.getByRole("dialog", { name: "Send this payment?" });
  }

  function sendIt(question: Locator): Locator {
    return question.getByRole("button", { name: "Send it" });
  }
}
