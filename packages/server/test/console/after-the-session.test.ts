import { createBursar, type Transaction } from "@bursar/client";
import type { PolicyDocument } from "@bursar/domain";
import type { Page, Request } from "playwright-core";
import { describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";
import { takePasskeyOf, type Visitor } from "../harness/console/visitor.js";
import { storePolicy } from "../harness/transactions/store-policy.js";

/** A page stays open when its session ends, and goes on when its person has logged in again over it. */
describe.runIf(hasBrowser)("a page whose session has ended", () => {
  const running = useConsole();

  const logInAgain = async (page: Page) => {
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    await dialog.getByRole("button", { name: "Log in with a passkey" }).click();
    await dialog.waitFor({ state: "hidden" });
  };

  it("shows what happens to a payment after its person has logged in again", async () => {
    const { service, join } = running();
    const owner = await service.createTenant("1000");
    const token = await service.token(owner);
    await storePolicy(service.database, { tenantId: owner.client.tenantId, clientId: owner.client.id }, {
      rules: [{ name: "one", when: { kind: "transaction" }, action: "require_approval", approvals: 1 }],
      default: { action: "allow" },
    } as PolicyDocument);
    const officer = await service.createIndependentClient(owner, ["transactions:approve"], "Officer");
    const payment = { reference: "waits", asset: "USD", amount: "5" };
    const { transactions } = createBursar({ baseUrl: service.url, credentials: () => token });
    const { id } = await transactions.create(payment, { idempotencyKey: "waits" });
    const until = ({ state }: Transaction) => state === "awaiting_approval";
    const { approval } = await transactions.waitFor(id, { until });
    const eve = await join(owner, "operator");
    await eve.open(`/transactions/${id}`);
    const facts = eve.page.locator("dl.facts").first();
    await facts.getByText("awaiting approval").waitFor();
    await endSessionsOf(eve);
    await logInAgain(eve.page);
    const decision = { decision: "approve", digest: approval?.digest };
    await service.call("POST", `/v1/transactions/${id}/approvals`, officer.token, decision);
    await facts.getByText("completed", { exact: true }).waitFor();
    await eve.close();
  });

  it("offers the OpenID provider and the log-in page, and keeps what was typed", async () => {
    const { service, join, origin } = running();
    const owner = await service.createTenant("1000");
    const eve = await join(owner, "operator");
    const { page } = eve;
    await page.route("**/console/session/challenge", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), provider: true } });
    });
    const url = `${origin}/docs`;
    await page.route("**/console/session/oidc", (route) => route.fulfill({ status: 200, json: { url } }));
    const reference = page.getByLabel("Reference");
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await eve.open("/transactions/new");
    await reference.fill("rent of May");
    await endSessionsOf(eve);
    await dialog.getByText("kept in this tab").waitFor();
    await dialog.getByRole("button", { name: "Log in with your organisation" }).click();
    await page.waitForURL(url);

    await page.goto(`${origin}/console/transactions/new`);
    await eve.logIn();
    expect(await reference.inputValue()).toBe("rent of May");
    await endSessionsOf(eve);
    await dialog.getByRole("button", { name: "Open the log-in page" }).click();
    await page.getByText("If your passkey is lost").waitFor();
    await page.getByRole("button", { name: "Log in with your organisation" }).waitFor();
    await eve.logIn();
    expect(await reference.inputValue()).toBe("rent of May");
    await eve.close();
  });

  it("that ended while nobody was there ends no session that was opened in another tab since", async () => {
    const { service, join } = running();
    const eve = await join(await service.createTenant("1000"), "viewer");
    const { page, context } = eve;
    await context.clock.install();
    await eve.open("/account");
    const other = await context.newPage();
    await other.goto(page.url());
    await other.getByRole("table", { name: "Sessions" }).waitFor();
    // The computer wakes without a network, and one tab has it back later than the other.
    const isEnd = (request: Request) => request.method() === "DELETE";
    await page.route("**/*", (route) => (isEnd(route.request()) ? route.abort() : route.continue()));
    await other.route("**/*", (route) => route.abort());
    await context.clock.fastForward("31:00");
    await page.unroute("**/*");
    await context.clock.fastForward("00:30");
    await logInAgain(page);
    const looked = other.waitForResponse((response) => isEnd(response.request()));
    await other.unroute("**/*");
    await context.clock.fastForward("00:30");
    await looked;
    const statusOfToken = `fetch("/console/session/token", { method: "POST" }).then(({ status }) => status)`;
    expect(await page.evaluate(statusOfToken)).toBe(200);
    await eve.close();
  });

  it("keeps what was typed for its own person if somebody else logs in over it", async () => {
    const { service, join } = running();
    const owner = await service.createTenant("1000");
    const ada = await join(owner, "operator", { name: "Ada" });
    const bob = await join(owner, "operator", { name: "Bob" });
    const reference = ada.page.getByLabel("Reference");
    const isPageOf = (name: string) => ada.page.locator("header").getByText(name).first().waitFor();
    await ada.open("/transactions/new");
    await reference.fill("typed by Ada");
    await endSessionsOf(ada);
    await ada.page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    const giveBack = await takePasskeyOf(bob, ada);
    await logInAgain(ada.page);
    await isPageOf("Bob");
    await expect.poll(() => reference.inputValue()).toBe("");
    await giveBack();
    await ada.page.getByRole("button", { name: "Log out" }).click();
    await ada.page.getByText("No passkey yet?").waitFor();
    await ada.logIn();
    await isPageOf("Ada");
    await expect.poll(() => reference.inputValue()).toBe("typed by Ada");
    await Promise.all([ada.close(), bob.close()]);
  });

  async function endSessionsOf(visitor: Visitor): Promise<void> {
    const token = await visitor.token();
    const bursar = createBursar({ baseUrl: running().service.url, credentials: () => token });
    for (const { id } of (await bursar.sessions.listOwn()).data) await bursar.sessions.endOwn(id);
  }
});
