import { createBursar, type Transaction } from "@bursar/client";
import type { PolicyDocument } from "@bursar/domain";
import type { Page } from "playwright-core";
import { describe, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";
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
    const mine = await eve.token();
    const { data } = (await (await service.call("GET", "/v1/me/sessions", mine)).json()) as {
      data: { id: string }[];
    };
    for (const session of data) await service.call("DELETE", `/v1/me/sessions/${session.id}`, mine);
    await logInAgain(eve.page);
    const decision = { decision: "approve", digest: approval?.digest };
    await service.call("POST", `/v1/transactions/${id}/approvals`, officer.token, decision);
    await facts.getByText("completed", { exact: true }).waitFor();
    await eve.close();
  });
});
