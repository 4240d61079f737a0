import { randomUUID } from "node:crypto";
import { createBursar, type Transaction } from "@bursar/client";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { addRuleForTwo } from "../harness/console/add-rule.js";
import { actorsOf } from "../harness/console/audit-actors.js";
import { clickTwice } from "../harness/console/click-twice.js";
import { seeWarningsOfPayments } from "../harness/console/payment-warnings.js";
import { storeShownSecret } from "../harness/console/store-shown-secret.js";
import { takeOverEndpoint } from "../harness/console/take-over-endpoint.js";
import { useSandbox } from "../harness/console/test-sandbox.js";
import type { Visitor } from "../harness/console/visitor.js";

/** What a newcomer does with the three links that `npm start` prints: an administrator and two who approve. */
describe.runIf(hasBrowser)("on the first day", () => {
  const running = useSandbox();
  let [ada, grace, alan] = [] as unknown as [Visitor, Visitor, Visitor];
  beforeAll(async () => {
    const { follow } = running();
    ada = await follow("Ada");
    grace = await follow("Grace");
    alan = await follow("Alan");
  });
  const watchedState = async () => (await listed("watched payment"))[0]?.state;
  beforeEach(() => {
    for (const { changes } of [ada, grace, alan]) changes.splice(0);
  });

  it("a payment arrives on a page that is open", async () => {
    await ada.open("/transactions");
    await ada.page.getByRole("status").getByText("live").waitFor();
    await pay("first payment");
    await ada.page.getByRole("link", { name: "first payment" }).waitFor();
    const table = ada.page.getByRole("region", { name: "Transactions, newest first" });
    const row = table.getByRole("row", { name: "first payment" });
    await row.getByText("completed", { exact: true }).waitFor();
  });

  it("a rule requires two people", async () => {
    await ada.open("/policy");
    await addRuleForTwo(ada.page, "two-people", "USD");
    await clickTwice(ada.page.getByRole("button", { name: "Put in force with the passkey" }));
    await ada.page.getByText("Version 2 is now in force").waitFor();
    await expectOnce("PUT /v1/policy");
    const { document } = await running().bursar.policy.get();
    const when = { kind: "transaction", assets: ["USD"] };
    const rule = { name: "two-people", when, action: "require_approval", approvals: 2, people: true };
    expect(document.rules[0]).toEqual(rule);
  });

  it("a page whose amount was changed does not approve", async () => {
    await pay("watched payment");
    await grace.open("/approvals");
    await grace.page.getByRole("link", { name: "watched payment" }).click();
    const approve = grace.page.getByRole("button", { name: "Approve with the passkey" });
    await grace.page.getByText("What is shown above is what the service has recorded").waitFor();
    await grace.page.evaluate(`{
      const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
      for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
        if (node.data === "25.00") node.data = "2.00";
    }`);
    await approve.click();
    await grace.page.getByText("It can be rejected, and not approved").first().waitFor();
    expect(await watchedState()).toBe("awaiting_approval");
  });

  it("two people approve with their passkeys, each once", async () => {
    for (const [visitor, approved] of [
      [grace, "awaiting_approval"],
      [alan, "completed"],
    ] as const) {
      await visitor.open("/approvals");
      await visitor.page.getByRole("link", { name: "watched payment" }).click();
      await clickTwice(visitor.page.getByRole("button", { name: "Approve with the passkey" }));
      await visitor.page
        .getByText("Your decision is recorded")
        .or(visitor.page.getByText("completed"))
        .first()
        .waitFor();
      await expectOnce(/^POST \/v1\/transactions\/tx_\w+\/approvals$/, visitor);
      expect(await visitor.page.evaluate("document.activeElement.tagName")).not.toBe("BODY");
      await expect.poll(watchedState, { timeout: 20_000 }).toBe(approved);
    }
  });

  it("every step is in the audit log, whose chain is verified in the page", async () => {
    await ada.open("/audit");
    const log = ada.page.getByRole("region", { name: "Audit log, newest first" });
    for (const step of ["session.open", "policy.replace", "transaction.create", "transaction.approve"])
      await log.getByText(step).first().waitFor();
    expect(await log.getByText("transaction.approve").count()).toBe(2);
    // Those who approved are named, also to somebody who does not know their ids, and each has the end of the id beside the name.
    for (const [name, visitor] of [
      ["Grace", grace],
      ["Alan", alan],
    ] as const)
      expect(await actorsOf(ada.page, "transaction.approve")).toContainEqual([name, await idOf(visitor)]);
    const [payer] = await actorsOf(ada.page, "transaction.create");
    expect(payer).toEqual([
      expect.stringMatching(/^\S.* program$/),
      (await running().bursar.me.get()).client.id,
    ]);
    await ada.page.getByRole("button", { name: "Verify" }).click();
    await ada.page.getByText(/entries were checked: 1 to \d+ have no gap/).waitFor();
    expect(ada.faults).toEqual([]);
  });

  it("the audit log is filtered by the name of a person and by the beginning of an action", async () => {
    const { page } = ada;
    const log = page.getByRole("region", { name: "Audit log, newest first" });
    await ada.open("/audit");
    await page.getByLabel("Person or client").fill("grace");
    await page.getByLabel("Person or client").press("Enter");
    await page.waitForURL(/client_id=cli_/);
    expect(await page.getByLabel("Person or client").inputValue()).toBe(await idOf(grace));
    await ada.open("/audit?action=policy");
    await log.getByText("policy.replace").first().waitFor();
    expect(await log.getByText("session.open").count()).toBe(0);
    await page.getByLabel("Person or client").fill("nobody of this name");
    await page.getByLabel("Person or client").press("Enter");
    await page.getByText("Nobody is known here by the name").waitFor();
  });

  it("a payment that is sent with a double click is one payment, and one step back leads to its form", async () => {
    await ada.open("/transactions");
    await ada.page.getByRole("link", { name: "New payment" }).click();
    // The list that is left has fields of the same names.
    await ada.page.getByRole("heading", { name: "New payment" }).waitFor();
    await ada.page.getByLabel("Reference").fill("sent twice");
    await ada.page.getByLabel("Asset").selectOption("USD");
    await ada.page.getByLabel("Amount").fill("3");
    // What is paid from is shown, although nothing was typed.
    await ada.page.getByText("available:").waitFor();
    await ada.page.getByLabel("Amount").focus();
    const question = ada.page.getByRole("dialog", { name: "Send this payment?" });
    // A key that is held is pressed again and again; it asks, and does not answer.
    for (let repeats = 0; repeats < 10; repeats += 1) {
      await ada.page.keyboard.down("Enter");
      await ada.page.waitForTimeout(30);
    }
    await ada.page.keyboard.up("Enter");
    // Who pays what, and what the policy says, before it is sent.
    await question.getByText("3.00 USD").waitFor();
    await question.getByText("This payment needs approval").waitFor();
    expect(await listed("sent twice")).toEqual([]);
    ada.changes.splice(0);
    await clickTwice(question.getByRole("button", { name: "Send it" }));
    await ada.page.getByRole("heading", { name: "Transaction", level: 1, exact: true }).waitFor();
    // The key alone would make one payment of two requests.
    await expectOnce("POST /v1/transactions");
    expect(await listed("sent twice")).toHaveLength(1);
    await ada.page.goBack();
    await ada.page.getByRole("heading", { name: "New payment" }).waitFor();
  });

  it("a transaction says which rule decided and what it has moved, and the menu what waits", async () => {
    const { page } = ada;
    const [paid] = await listed("first payment");
    await ada.open(`/transactions/${paid?.id}`);
    await page.locator("dd").getByText(`version 1, rule ${paid?.policy_rule}`).waitFor();
    const entries = page.getByRole("table", { name: "Entries in the ledger" });
    await entries.getByRole("row", { name: "1 primary settlement 25.00 USD" }).waitFor();
    await page.getByRole("navigation", { name: "Pages" }).getByText("1 waiting").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Find" }).waitFor();
    await page.keyboard.press("Escape");
    // The keyboard goes on in the content, and not at the top of the page.
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("main");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("grace@");
    await page.getByRole("option", { name: "Grace" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Person", level: 1 }).waitFor();
  });

  it("a payment to a wallet by its name is not sent if another wallet got the name meanwhile", async () => {
    const { page } = ada;
    const { id } = await createWallet("Rent");
    await ada.open("/transactions/new");
    await page.getByLabel("Reference").fill("to Rent");
    await page.getByLabel("Asset").selectOption("USD");
    await page.getByLabel("Amount").fill("5");
    await page.getByLabel("To", { exact: true }).fill("Rent");
    await page.locator("form code", { hasText: id }).waitFor();
    await createWallet("Rent");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("button", { name: "Send it" }).click();
    await page.getByRole("alert").getByText("A wallet or address was named meanwhile").waitFor();
    expect(await listed("to Rent")).toEqual([]);
    await page.getByRole("button", { name: "Discard" }).click();
  });

  it("a payment that cannot be meant says so before it is sent", () =>
    seeWarningsOfPayments(ada, running().bursar, "first payment"));

  it("a secret that is shown once stays until it is stored", () =>
    storeShownSecret(ada, () => expectOnce("POST /v1/webhook-endpoints")));

  it("an endpoint of a program stops with it, and is made to act for a person with a new secret", () =>
    takeOverEndpoint(ada, running().bursar, running().origin));

  it("an administrator invites somebody, and recovers them when the passkey is lost", async () => {
    await ada.open("/people");
    await ada.page.getByRole("link", { name: "Grace" }).click();
    // The section of sessions says it too, when they are there.
    await ada.page.getByText("recover them, because your role lacks transactions:approve").waitFor();
    for (const name of ["Give this role", "Disable", "Recover with a new link"])
      expect([name, await ada.page.getByRole("button", { name }).count()]).toEqual([name, 0]);
    await ada.open("/people");
    await ada.page.getByRole("button", { name: "Invite", exact: true }).click();
    await ada.page.getByLabel("Email").fill("lin@treasury.example");
    await ada.page.getByLabel("Name").fill("Lin");
    await ada.page.getByLabel("Role").selectOption("viewer");
    await clickTwice(ada.page.getByRole("button", { name: "Invite with the passkey" }));
    await ada.page.getByRole("dialog", { name: "Link of the invitation" }).waitFor();
    await expectOnce("POST /v1/people");
    const lin = await running().visit();
    const invitation = await shownLink();
    await lin.page.goto(invitation);
    await lin.page.getByText("lin@treasury.example").waitFor();
    await lin.page.getByText("sandbox", { exact: true }).waitFor();
    await lin.accept(invitation);
    await ada.page.getByRole("link", { name: "Lin" }).click();
    await ada.page.getByRole("button", { name: "Recover with a new link" }).click();
    await ada.page.getByRole("button", { name: "Recover with the passkey" }).click();
    const again = await shownLink();
    // Their sessions have ended, and the page does not list them any more.
    await ada.page.getByText("Not logged in anywhere.").waitFor();
    await ada.page
      .getByText("the last link, of the invitation or of a recovery, has not been used")
      .waitFor();
    await lin.page.reload();
    await lin.page.getByRole("button", { name: "Log in with a passkey" }).click();
    await lin.page.getByText("PASSKEY_INVALID").waitFor();
    const device = await running().visit();
    await device.accept(again);
    await device.page.getByRole("link", { name: "Lin" }).waitFor();
    await ada.page.reload();
    await ada.page.getByRole("table", { name: "Sessions" }).waitFor();
    await ada.page.getByRole("button", { name: "Disable" }).click();
    await ada.page.getByRole("button", { name: "Disable with the passkey" }).click();
    await ada.page.getByText("A link does not work while the person is disabled").waitFor();
    expect(await ada.page.getByRole("button", { name: "Recover with a new link" }).isDisabled()).toBe(true);
    await ada.page.getByText("Not logged in anywhere.").waitFor();
    await Promise.all([lin.close(), device.close()]);
  });

  it("what was typed is forgotten after logging out, in that tab alone", async () => {
    const invite = async () => {
      await ada.open("/people");
      await ada.page.getByRole("button", { name: "Invite", exact: true }).click();
      return ada.page.getByLabel("Name");
    };
    await (await invite()).fill("Nobody else's business");
    expect(await (await invite()).inputValue()).toBe("Nobody else's business");
    await ada.page.getByRole("button", { name: "Cancel" }).click();
    const tab = await ada.context.newPage();
    await tab.goto(`${running().origin}/console/transactions/new`);
    await tab.getByLabel("Reference").fill("Typed in another tab");
    await ada.page.getByRole("button", { name: "Log out" }).click();
    await tab.getByRole("button", { name: "Log in with a passkey" }).waitFor();
    await ada.logIn();
    expect(await (await invite()).inputValue()).toBe("");
    await tab.reload();
    expect(await tab.getByLabel("Reference").inputValue()).toBe("Typed in another tab");
    await tab.close();
  });

  /** The page has asked for this change, for no other and not twice, and was not refused. What a second click would cause is seen by then. */
  async function expectOnce(change: string | RegExp, { page, changes } = ada): Promise<void> {
    await page.waitForTimeout(500);
    expect(changes.splice(0)).toEqual([typeof change === "string" ? change : expect.stringMatching(change)]);
    expect(await page.getByRole("alert").allInnerTexts()).toEqual([]);
  }

  async function idOf(visitor: Visitor): Promise<string> {
    const bursar = createBursar({ baseUrl: running().origin, credentials: () => visitor.token() });
    return (await bursar.me.get()).client.id;
  }

  /** The link that the page shows a single time. */
  async function shownLink(): Promise<string> {
    const dialog = ada.page.getByRole("dialog", { name: "Link of the invitation" });
    const link = await dialog.locator("pre").innerText();
    await dialog.getByRole("button", { name: "I have kept it" }).click();
    return `${running().origin}/console${new URL(link).hash}`;
  }

  const once = () => ({ idempotencyKey: randomUUID() });
  const pay = (reference: string) =>
    running().bursar.transactions.create({ reference, asset: "USD", amount: "25" }, once());
  const createWallet = (name: string) =>
    running().bursar.wallets.create({ name, purpose: "payout", network: "book" }, once());

  async function listed(reference: string): Promise<Transaction[]> {
    return (await running().bursar.transactions.list({ reference }).page()).data;
  }
});
