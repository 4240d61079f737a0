import { randomUUID } from "node:crypto";
import { createBursar } from "@bursar/client";
import { tradingPolicy } from "@bursar/domain";
import { builtInRoles, clientNameScopes } from "@bursar/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { listRoutes } from "../../src/http/api.js";
import type { Route } from "../../src/http/route.js";
import { hasBrowser } from "../harness/browser.js";
import { fillPath, routerPaths } from "../harness/console/console-pages.js";
import { settle } from "../harness/console/look-at-page.js";
import { listActions, lookForActions } from "../harness/console/page-actions.js";
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
  const shownActions = new Set<string>();
  beforeAll(async () => {
    const { service } = running();
    owner = await service.createTenant("100000");
    objects = await createObjects(service, await service.token(owner), owner.clientId);
    const rule = {
      name: "large",
      when: { amount: { asset: "USD", min: "500" } },
      action: "require_approval",
      approvals: 1,
    };
    const policy = { ...tradingPolicy, rules: [rule, ...tradingPolicy.rules] };
    expect((await policyOf(service, await service.token(owner)).replace(policy)).status).toBe(200);
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
      const faults: string[] = [];
      for (const { path, title } of allowed) {
        await menu.getByRole("link", { name: title, exact: true }).click();
        await ada.page.getByRole("heading", { name: title, level: 1, exact: true }).waitFor();
        faults.push(...(await faultsOf(ada, path, scopes)));
      }
      const various = await createVarious(role);
      for (const path of objectPages(allowed))
        for (const filled of new Set(various.map((some) => fillPath(path, { ...objects, ...some })))) {
          await ada.open(filled);
          faults.push(...(await faultsOf(ada, path, scopes)));
        }
      expect(faults).toEqual([]);
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

  it("sees each action that another role lacks", () => {
    expect(listActions().filter((action) => !shownActions.has(action))).toEqual([]);
  });

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

  /** The pages of objects whose list is in the menu; deliveries are listed by their endpoints. */
  const objectPages = (allowed: readonly MenuPage[]) =>
    routerPaths().filter((path) =>
      allowed.some((page) => path.replace("/deliveries/", "/webhooks/") === `${page.path}/$id`),
    );

  /** Objects in the states in which pages offer something else. A payment can be approved by those who had their role before it. */
  async function createVarious(role: string): Promise<Record<string, string>[]> {
    const { service } = running();
    const token = await service.token(owner);
    const post = async (path: string, body: object) => {
      const answer = await service.call("POST", path, token, body, { "idempotency-key": randomUUID() });
      expect([path, answer.status < 300]).toEqual([path, true]);
      return ((await answer.json()) as { id: string }).id;
    };
    const payment = { reference: `for ${role}`, asset: "USD", amount: "500" };
    const transactions = await post("/v1/transactions", payment);
    const bursar = createBursar({ baseUrl: service.url, credentials: () => token });
    await bursar.transactions.waitFor(transactions, { until: ({ state }) => state === "awaiting_approval" });
    const frozen = await post("/v1/wallets", { name: `frozen for ${role}`, purpose: "payout" });
    await post(`/v1/wallets/${frozen}/freeze`, { reason: "to see it" });
    const unverified = await post("/v1/webhook-endpoints", { url: `https://${role}.example/hook` });
    return [{}, { transactions, wallets: frozen, webhooks: unverified }];
  }

  /** What is on a page and should not be. */
  async function faultsOf(visitor: Visitor, path: string, scopes: readonly string[]): Promise<string[]> {
    await settle(visitor.page);
    const { shown, forbidden, unknown } = await lookForActions(visitor.page, path, scopes);
    for (const action of shown) shownActions.add(action);
    return [
      ...forbidden.map((action) => `forbidden: ${action}`),
      ...unknown.map((action) => `in no row: ${action}`),
      // A request that the service refuses is an error on the console of the page.
      ...visitor.faults.splice(0).map((fault) => `${path}: ${fault}`),
    ];
  }

  async function codeOf(route: Route, token: string): Promise<string> {
    const path = pathOf(route, objects) + requiredQueryOf(route);
    const answer = await running().service.call(route.method, path, token, bodyOf(route));
    const text = await answer.text();
    const { error } = (text.startsWith("{") ? JSON.parse(text) : {}) as { error?: { code: string } };
    return `${answer.status} ${error?.code ?? ""}`;
  }
});
