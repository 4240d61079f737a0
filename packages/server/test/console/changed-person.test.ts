import { createBursar } from "@bursar/client";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { payAndLoseAnswer, unanswered } from "../harness/console/lose-answer.js";
import { useConsole } from "../harness/console/test-console.js";
import { takePasskeyOf, type Visitor } from "../harness/console/visitor.js";
import { createTrader, type Trader } from "../harness/markets/trader.js";
import { policyOf } from "../harness/transactions/policy-client.js";

/** Something that a person types on a page and sends from there. */
interface Act {
  role: string;
  path: () => string;
  /** The request that does it. */
  request: string;
  type: (page: Page) => Promise<void>;
  send: (page: Page) => Promise<void>;
  /** What is in the form of somebody who has typed nothing, as a label and a value. */
  fresh: () => Promise<[string, string]>;
  /** What the service has of it. It is the same before and after, if nothing was done. */
  done: () => Promise<unknown>;
}

const running = useConsole();

/** What one person has typed or sent is never done by another who logs in meanwhile. */
describe.runIf(hasBrowser)("after somebody else has logged in", () => {
  let trader: Trader;
  let waiting: string;
  const people: Record<string, [Visitor, Visitor]> = {};
  const bursar = () =>
    createBursar({
      baseUrl: running().service.url,
      credentials: () => running().service.token(trader.owner),
    });

  beforeAll(async () => {
    const { service, join } = running();
    trader = await createTrader(service, { USD: "100000" });
    for (const role of ["operator", "approver", "admin"])
      people[role] = [
        await join(trader.owner, role, { name: "Ada" }),
        await join(trader.owner, role, { name: "Bob" }),
      ];
    const rule = { name: "one", when: { kind: "transaction" }, action: "require_approval", approvals: 1 };
    await policyOf(service, trader.token).replace({ rules: [rule], default: { action: "allow" } });
    const payment = { reference: "waits", asset: "USD", amount: "1" };
    ({ id: waiting } = await bursar().transactions.create(payment, { idempotencyKey: "waits" }));
    await bursar().transactions.waitFor(waiting, { until: ({ state }) => state === "awaiting_approval" });
  });

  const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
  const policyText = async () => `${JSON.stringify((await bursar().policy.get()).document, null, 2)}`;
  const acts: Record<string, Act> = {
    payment: {
      role: "operator",
      path: () => "/transactions/new",
      request: "**/v1/transactions",
      type: async (page) => {
        await page.getByLabel("Reference").fill("typed by Ada");
        await page.getByLabel("Asset").selectOption("USD");
        await page.getByLabel("Amount").fill("1");
      },
      send: async (page) => {
        await press(page, "Send");
        await press(page, "Send it");
      },
      fresh: async () => ["Reference", ""],
      done: async () => (await bursar().transactions.list({ reference: "typed by Ada" }).page()).data,
    },
    order: {
      role: "operator",
      path: () => "/markets?market=ETH-USD",
      request: "**/v1/orders",
      type: async (page) => {
        await page.getByLabel("Price (USD)").fill("2000");
        await page.getByLabel("Size (ETH)").fill("0.21");
      },
      send: async (page) => {
        await press(page, "Place the order");
        await press(page, "Place it");
      },
      fresh: async () => ["Size (ETH)", ""],
      done: async () => (await bursar().orders.list({ market: "ETH-USD" }).page()).data,
    },
    approval: {
      role: "approver",
      path: () => `/approvals/${waiting}`,
      request: "**/v1/transactions/*/approvals",
      type: (page) => page.getByLabel("Comment").fill("typed by Ada"),
      send: (page) => press(page, "Approve with the passkey"),
      fresh: async () => ["Comment", ""],
      done: async () => (await bursar().transactions.get(waiting)).approval?.decisions,
    },
    policy: {
      role: "admin",
      path: () => "/policy",
      request: "**/v1/policy",
      type: (page) =>
        page
          .getByLabel("JSON", { exact: true })
          .fill(JSON.stringify({ rules: [], default: { action: "reject" } }, null, 2)),
      send: (page) => press(page, "Put in force with the passkey"),
      fresh: async () => ["JSON", await policyText()],
      done: async () => (await bursar().policy.get()).version,
    },
  };

  describe.each(Object.entries(acts))("a %s", (_, act) => {
    it("that was confirmed is not done by the person of another tab", async () => {
      const [ada, bob] = peopleOf(act);
      const before = await act.done();
      await begin(ada, act);
      const own = await ada.context.cookies();
      await ada.context.addCookies(await bob.context.cookies());
      await refuseTokenOnce(ada.page, act.request);
      await act.send(ada.page);
      await expectFreshFormOf("Bob", ada.page, act);
      expect(await act.done()).toEqual(before);
      await ada.context.clearCookies();
      await ada.context.addCookies(own);
    });

    it("whose session had ended is not done by the person who logs in over the page", async () => {
      const [ada, bob] = peopleOf(act);
      const before = await act.done();
      await begin(ada, act);
      await ada.context.clearCookies();
      await refuseTokenOnce(ada.page, act.request);
      await act.send(ada.page);
      await ada.page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
      const giveBack = await takePasskeyOf(bob, ada);
      ada.changes.splice(0);
      await press(ada.page, "Log in with a passkey");
      await expectFreshFormOf("Bob", ada.page, act);
      expect(ada.changes).toEqual([]);
      expect(await act.done()).toEqual(before);
      await giveBack();
      await logInAgain(ada);
    });
  });

  it("a payment without an answer is shown to its own person alone, who asks for it again", async () => {
    const [ada, bob] = peopleOf({ role: "operator" });
    const { page } = ada;
    const paid = async () => (await bursar().transactions.list({ reference: "sent by Ada" }).page()).data;
    await forgetAll(ada);
    await payAndLoseAnswer(page, running().origin, "sent by Ada");
    await press(page, "Log out");
    const giveBack = await takePasskeyOf(bob, ada);
    await ada.logIn();
    await page.locator("header").getByText("Bob").first().waitFor();
    expect(await page.getByLabel("Reference").inputValue()).toBe("");
    expect(await unanswered(page, "Payment sent by Ada").count()).toBe(0);
    expect(await page.getByText("the answer was lost").count()).toBe(0);
    await giveBack();
    await logInAgain(ada);
    await ada.open("/transactions/new");
    await press(page, "Ask again");
    await page.getByRole("heading", { name: "Transaction", level: 1, exact: true }).waitFor();
    const [{ created_by } = { created_by: null }, ...others] = await paid();
    expect(created_by).toBe((await createBursarOf(ada).me.get()).client.id);
    expect(others).toEqual([]);
  });

  function peopleOf({ role }: Pick<Act, "role">): [Visitor, Visitor] {
    const found = people[role];
    if (found === undefined) throw new Error(`nobody is ${role}`);
    return found;
  }

  async function begin(ada: Visitor, act: Act): Promise<void> {
    await forgetAll(ada);
    await ada.open(act.path());
    await act.type(ada.page);
  }

  /** What was sent and not answered in an earlier test would still be asked about. */
  async function forgetAll({ page, open }: Visitor): Promise<void> {
    await open("/account");
    await page.evaluate("sessionStorage.clear(); localStorage.clear()");
  }

  const createBursarOf = (visitor: Visitor) =>
    createBursar({ baseUrl: running().service.url, credentials: () => visitor.token() });

  async function expectFreshFormOf(name: string, page: Page, { fresh }: Act): Promise<void> {
    await page.locator("header").getByText(name).first().waitFor();
    const [label, value] = await fresh();
    await expect.poll(() => page.getByLabel(label, { exact: true }).inputValue()).toBe(value);
  }

  async function logInAgain({ page, logIn }: Visitor): Promise<void> {
    if ((await page.getByRole("button", { name: "Log out" }).count()) > 0) await press(page, "Log out");
    await logIn();
    await page.locator("header").getByText("Ada").first().waitFor();
  }
});

/** The next request is answered as if the token had expired, so that the page asks for another one. */
async function refuseTokenOnce(page: Page, request: string): Promise<void> {
  const json = { error: { code: "UNAUTHENTICATED", message: "The token has expired.", request_id: "1" } };
  let isRefused = false;
  await page.route(request, async (route) => {
    if (route.request().method() === "GET" || isRefused) return await route.fallback();
    isRefused = true;
    await route.fulfill({ status: 401, json });
  });
}
