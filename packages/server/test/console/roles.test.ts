import { createBursar } from "@bursar/client";
import { builtInRoles, clientNameScopes, type Scope } from "@bursar/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { listRoutes } from "../../src/http/api.js";
import type { Route } from "../../src/http/route.js";
import { hasBrowser } from "../harness/browser.js";
import { settle } from "../harness/console/look-at-page.js";
import { useConsole } from "../harness/console/test-console.js";
import type { Visitor } from "../harness/console/visitor.js";
import { bodyOf, createObjects, pathOf, requiredQueryOf } from "../harness/http/route-requests.js";
import type { TestClient } from "../harness/service/test-service.js";
import { policyOf } from "../harness/transactions/policy-client.js";

interface MenuPage {
  path: string;
  title: string;
  scopes: readonly string[];
}

/** What changes something, by the name of its button or link, and the scopes of which one is needed. */
const actions: readonly (readonly [RegExp, readonly Scope[]])[] = [
  [/^New payment$/, ["transactions:write"]],
  [/^Cancel the payment$/, ["transactions:write"]],
  [/^(Approve with|Reject)/, ["transactions:approve"]],
  [/^New wallet$/, ["wallets:write"]],
  [/^Freeze/, ["wallets:freeze"]],
  [/^Unfreeze/, ["wallets:unfreeze"]],
  [/^(Place the order|Reduce|Cancel)$/, ["orders:write"]],
  [/^(Invite|New role|New client|Disable|Enable)/, ["clients:manage"]],
  [/^(List an address|Remove the address)/, ["destinations:manage"]],
  [/^(Add a rule|Put in force|Restore|Up$|Down$)/, ["policies:manage"]],
  [/^(New endpoint|Resend|Replay|Send a test)/, ["webhooks:manage"]],
];

/** A module of the console, which this package does not depend on. */
async function importConsole<Module>(path: string): Promise<Module> {
  const file = new URL(`../../../console/src/${path}`, import.meta.url).href;
  return (await import(/* @vite-ignore */ file)) as Module;
}

it("the console asks for names with every scope that may read them, and with no other", async () => {
  const own = await importConsole<{ clientNameScopes: readonly string[] }>("api/client-name-scopes.ts");
  expect(own.clientNameScopes).toEqual(clientNameScopes);
});

const routes = listRoutes({} as never, "").filter(({ path }) => path.startsWith("/v1/"));

it("the console names requests that there are", async () => {
  const { actionNames } = await importConsole<{ actionNames: object }>("pages/audit/action-name.ts");
  const requests = routes.map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys(actionNames).filter((request) => !requests.includes(request))).toEqual([]);
});

const scopesOf = ({ access }: Route): readonly string[] => (typeof access === "string" ? [access] : access);

/** Each built-in role on each page of the menu, and on each route. */
describe.runIf(hasBrowser)("a role", () => {
  const running = useConsole();
  let owner: TestClient;
  let objects: Record<string, string>;
  let pages: readonly MenuPage[];
  beforeAll(async () => {
    const { service } = running();
    owner = await service.createTenant("1000");
    objects = await createObjects(service, await service.token(owner), owner.clientId);
    ({ pages } = await importConsole<{ pages: readonly MenuPage[] }>("shell/pages.ts"));
  });

  it.each(Object.entries(builtInRoles))(
    "%s sees what it may open, and does what it may do",
    async (role, held) => {
      const scopes: readonly string[] = held;
      const ada = await running().join(owner, role);
      const allowed = pages.filter((page) => page.scopes.some((scope) => scopes.includes(scope)));
      const menu = ada.page.getByRole("navigation", { name: "Pages" });
      const titles = await menu.getByRole("link").allInnerTexts();
      expect(titles).toEqual(allowed.map(({ title }) => title));
      for (const { title } of allowed) {
        await menu.getByRole("link", { name: title, exact: true }).click();
        await ada.page.getByRole("heading", { name: title, level: 1, exact: true }).waitFor();
        await expectOnlyAllowed(ada, title, scopes);
      }
      for (const path of objectPages(scopes)) {
        await ada.open(path);
        await expectOnlyAllowed(ada, path, scopes);
      }
      const token = await ada.token();
      const answers = await Promise.all(
        routes
          .filter((route) => scopesOf(route).length > 0)
          .filter((route) => !scopesOf(route).some((scope) => scopes.includes(scope)))
          .map(async (route) => [`${route.method} ${route.path}`, await codeOf(route, token)]),
      );
      expect(answers.length).toBeGreaterThan(0);
      expect(answers.filter(([, code]) => code !== "403 INSUFFICIENT_SCOPE")).toEqual([]);
      const readable = routes.filter(
        (route) => route.method === "GET" && scopesOf(route).some((scope) => scopes.includes(scope)),
      );
      for (const route of readable)
        expect([route.path, await codeOf(route, token)]).not.toEqual([route.path, "403 INSUFFICIENT_SCOPE"]);
      await ada.close();
    },
  );

  it("that approves reads what it cannot approve, and one that invites the command for approvers", async () => {
    const { service, join } = running();
    const token = await service.token(owner);
    const rule = { name: "two", when: { kind: "transaction" }, action: "require_approval", approvals: 2 };
    await policyOf(service, token).replace({ rules: [rule], default: { action: "allow" } });
    const { transactions } = createBursar({ baseUrl: service.url, credentials: () => token });
    const payment = { reference: "earlier", asset: "USD", amount: "1" };
    const { id } = await transactions.create(payment, { idempotencyKey: "earlier" });
    await transactions.waitFor(id, { until: ({ state }) => state === "awaiting_approval" });
    const [late, admin] = [await join(owner, "approver"), await join(owner, "admin")];
    await late.open(`/approvals/${id}`);
    await late.page.getByText("You cannot approve this payment, because it was requested before").waitFor();
    expect(await late.page.getByRole("button", { name: "Approve with the passkey" }).isDisabled()).toBe(true);
    await admin.open("/people");
    await admin.page.getByRole("button", { name: "Invite", exact: true }).click();
    const command = `bursar people invite EMAIL --name NAME --role approver --tenant ${owner.tenantId}`;
    await admin.page.getByRole("dialog").getByText(command).waitFor();
    await Promise.all([late.close(), admin.close()]);
  });

  it("that approves reads in the menu that more payments wait than were counted", async () => {
    const { service, join } = running();
    const tenant = await service.createTenant("1000");
    const token = await service.token(tenant);
    const [approver, operator] = [await join(tenant, "approver"), await join(tenant, "operator")];
    const rule = { name: "one", when: { kind: "transaction" }, action: "require_approval", approvals: 1 };
    await policyOf(service, token).replace({ rules: [rule], default: { action: "allow" } });
    const { transactions } = createBursar({ baseUrl: service.url, credentials: () => token });
    const pay = async (from: number, to: number) => {
      for (let number = from; number <= to; number++) {
        const payment = { reference: `many-${number}`, asset: "USD", amount: "1" };
        const { id } = await transactions.create(payment, { idempotencyKey: payment.reference });
        if (number === to)
          await transactions.waitFor(id, { until: ({ state }) => state === "awaiting_approval" });
      }
    };
    const expectCount = async (said: string, shown?: string) => {
      for (const { page, open } of [approver, operator]) {
        await open("/");
        const menu = page.getByRole("navigation", { name: "Pages" });
        await menu.getByText(said, { exact: true }).waitFor();
        if (shown !== undefined) expect(await menu.getByText(shown, { exact: true }).count()).toBe(1);
      }
    };
    await pay(1, 100);
    await expectCount("100 waiting");
    await pay(101, 101);
    await expectCount("100 or more waiting", "100+");
    await Promise.all([approver.close(), operator.close()]);
  });

  const objectPages = (scopes: readonly string[]) => [
    ...(scopes.includes("transactions:read") ? [`/transactions/${objects["transactions"]}`] : []),
    ...(scopes.includes("wallets:read") ? [`/wallets/${objects["wallets"]}`] : []),
  ];

  async function expectOnlyAllowed(visitor: Visitor, page: string, scopes: readonly string[]): Promise<void> {
    await settle(visitor.page);
    expect([page, ...(await forbiddenActions(visitor, scopes))]).toEqual([page]);
    // A request that the service refuses is an error on the console of the page.
    expect([page, ...visitor.faults.splice(0)]).toEqual([page]);
  }

  async function forbiddenActions({ page }: Visitor, scopes: readonly string[]): Promise<string[]> {
    const names = await page
      .locator("main")
      .locator("button:enabled:visible, a.button:visible")
      .allInnerTexts();
    return names.filter((name) =>
      actions.some(
        ([pattern, needed]) => pattern.test(name) && !needed.some((scope) => scopes.includes(scope)),
      ),
    );
  }

  async function codeOf(route: Route, token: string): Promise<string> {
    const path = pathOf(route, objects) + requiredQueryOf(route);
    const answer = await running().service.call(route.method, path, token, bodyOf(route));
    const text = await answer.text();
    const { error } = (text.startsWith("{") ? JSON.parse(text) : {}) as { error?: { code: string } };
    return `${answer.status} ${error?.code ?? ""}`;
  }
});
