import { approvalDigest, type Transaction as ClientTransaction, readApprovalTerms } from "@bursar/client";
import type { PolicyDocument } from "@bursar/domain";
import type { ChangeRequest, Transaction } from "@bursar/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { alterAnswers } from "../harness/console/alter-answers.js";
import { useConsole } from "../harness/console/test-console.js";
import type { Visitor } from "../harness/console/visitor.js";
import { eventually } from "../harness/eventually.js";
import type { TestClient } from "../harness/service/test-service.js";
import { storePolicy } from "../harness/transactions/store-policy.js";

const running = useConsole();

const policy = {
  rules: [{ name: "two-people", when: { kind: "transaction" }, action: "require_approval", approvals: 2 }],
  default: { action: "allow" },
  changes: { approvals: 1 },
} as PolicyDocument;

const addressOf = (digit: number) => `0x${`${digit}`.repeat(40)}`;

/** An administrator asks, and two approvers learn what they decide about, and what has become of it. */
describe.runIf(hasBrowser)("an approver", () => {
  let owner: TestClient;
  let token: string;
  let [ada, grace, alan] = [] as unknown as [Visitor, Visitor, Visitor];
  beforeAll(async () => {
    const { service, join } = running();
    owner = await service.createTenant("100000");
    token = await service.token(owner);
    ada = await join(owner, "admin", { name: "Ada" });
    grace = await join(owner, "approver", { name: "Grace" });
    alan = await join(owner, "approver", { name: "Alan" });
    for (const digit of [5, 6, 7]) {
      const destination = { label: `treasury ${digit}`, network: "eip155:1", address: addressOf(digit) };
      await call("POST", "/v1/destinations", destination);
    }
    await storePolicy(
      service.database,
      { tenantId: owner.client.tenantId, clientId: owner.client.id },
      policy,
    );
  });

  it("reads which address a change request removes, also after it is removed", async () => {
    await ada.open("/destinations");
    await ada.page.getByRole("button", { name: `Remove ${addressOf(5)}` }).click();
    await ada.page.getByRole("button", { name: "Remove with the passkey" }).click();
    await ada.page.getByText("Others must approve this").waitFor();
    // A second request for the same removal is not offered.
    await ada.open("/destinations");
    await ada.page.getByRole("link", { name: "Removal waits for approval" }).waitFor();
    expect(await ada.page.getByRole("button", { name: `Remove ${addressOf(5)}` }).count()).toBe(0);

    const { page } = grace;
    await grace.open("/");
    const menu = page.getByRole("navigation", { name: "Pages" });
    await menu.locator("li", { hasText: "Change requests" }).getByText("1 waiting").waitFor();
    await page.getByRole("main").getByRole("link", { name: "Decide about the changes" }).click();
    const table = page.getByRole("region", { name: "Change requests" });
    await table.getByText("treasury 5").waitFor();
    await table.getByText("eip155:1").waitFor();
    expect(await table.innerText()).toContain("5555");
    await page.getByRole("link", { name: "Remove a destination" }).click();
    const change = page.getByRole("region", { name: "What would change" });
    await change.getByText("treasury 5").waitFor();
    await change.getByText("eip155:1").waitFor();
    expect(await change.locator(".address").textContent()).toBe(addressOf(5));
    await page.getByRole("button", { name: "Approve with the passkey" }).click();
    await page.getByText("Nothing can be decided any more: the change is applied").waitFor();
    expect(await change.locator(".address").textContent()).toBe(addressOf(5));
  });

  it("is warned if nobody can tell which address a request means", async () => {
    const request = await removalOf(7);
    await alterAnswers(alan.page, `**/v1/change-requests/${request.id}`, (body) => ({
      ...body,
      change: { destination_id: "dst_01h455vb4pex5vsknk084sn02q" },
      target: "dst_01h455vb4pex5vsknk084sn02q",
    }));
    await alan.open(`/change-requests/${request.id}`);
    await alan.page.getByText("Which address this is cannot be shown").waitFor();
    await alan.page.unrouteAll();
    await call("POST", `/v1/change-requests/${request.id}/cancel`);
  });

  it("reads that a rejection of a change came too late, and keeps its comment", async () => {
    const { page } = alan;
    const request = await removalOf(6);
    await alan.open(`/change-requests/${request.id}`);
    await page.getByLabel("Comment").fill("Still in use.");
    await page.getByRole("button", { name: "Reject", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Reject this change?" });
    await dialog.waitFor();
    // The page learns of the approval by its own attempt.
    let isHeld = true;
    await page.route(`**/v1/change-requests/${request.id}`, (route) =>
      isHeld ? route.abort() : route.continue(),
    );
    await grace.open(`/change-requests/${request.id}`);
    await grace.page.getByRole("button", { name: "Approve with the passkey" }).click();
    await eventually(
      () => call<ChangeRequest>("GET", `/v1/change-requests/${request.id}`),
      ({ state }) => state === "applied",
    );
    isHeld = false;
    await dialog.getByRole("button", { name: "Reject with the passkey" }).click();
    const notice = page.getByRole("status").filter({ hasText: "Nothing can be decided any more" });
    await notice.getByText("Your rejection was not recorded.").waitFor();
    await notice.getByText("Still in use.").waitFor();
    await page.unrouteAll();
  });

  it("reads that a payment without funds was not approved", async () => {
    const payment = await pay("without funds", "5000000", "failed");
    const { page } = grace;
    await grace.open(`/transactions/${payment.id}`);
    await page.getByText("INSUFFICIENT_FUNDS").first().waitFor();
    await page.getByText("0 recorded, not approved").waitFor();
    await grace.open(`/approvals/${payment.id}`);
    await page.getByText("INSUFFICIENT_FUNDS").waitFor();
    expect(await page.getByText("approved", { exact: true }).count()).toBe(0);
  });

  it("reads that the wallet that pays is frozen, and why the payment has failed", async () => {
    const payment = await pay("frozen", "5000", "awaiting_approval");
    const { page } = grace;
    await grace.open(`/approvals/${payment.id}`);
    const frozen = page.getByText("The wallet that pays");
    await page.getByRole("button", { name: "Approve with the passkey" }).waitFor();
    expect(await frozen.count()).toBe(0);
    const wallet = payment.source !== null && "wallet_id" in payment.source ? payment.source.wallet_id : "";
    await call("POST", `/v1/wallets/${wallet}/freeze`, {});
    await grace.open(`/approvals/${payment.id}`);
    await frozen.waitFor();
    for (const visitor of [grace, alan]) {
      await visitor.open(`/approvals/${payment.id}`);
      await visitor.page.getByRole("button", { name: "Approve with the passkey" }).click();
      await visitor.page
        .getByText(/Your decision is recorded|WALLET_FROZEN/)
        .first()
        .waitFor();
    }
    await page.getByText("WALLET_FROZEN").waitFor();
    await call("POST", `/v1/wallets/${wallet}/unfreeze`, {});
  });

  it("reads that an approval does not count whose client was disabled after it", async () => {
    const { service } = running();
    const hire = (name: string) => service.createIndependentClient(owner, ["transactions:approve"], name);
    const [linus, margaret, dorothy] = [await hire("Linus"), await hire("Margaret"), await hire("Dorothy")];
    const payment = await pay("disabled after approving", "60", "awaiting_approval");
    const approve = async (officer: typeof linus) => {
      const body = { decision: "approve", digest: payment.approval?.digest };
      const path = `/v1/transactions/${payment.id}/approvals`;
      expect((await service.call("POST", path, officer.token, body)).status).toBe(202);
    };
    await approve(linus);
    await service.changeAsOperator(linus, { state: "disabled" });
    await approve(margaret);
    const { page } = grace;
    await grace.open(`/approvals/${payment.id}`);
    await page.getByText("1 of 2 counted").waitFor();
    const notes = page.getByRole("status").filter({ hasText: "does not count" });
    expect(await notes.allInnerTexts()).toEqual([
      expect.stringMatching(/^The approval of Linus .* does not count: disabled\.$/s),
    ]);
    await grace.open("/approvals");
    const row = page.getByRole("row").filter({ hasText: "disabled after approving" });
    await row.getByText("1 of 2 counted").waitFor();
    await grace.open(`/transactions/${payment.id}`);
    await page.getByText("1 of 2 counted, pending").waitFor();
    expect(await notes.allInnerTexts()).toEqual([expect.stringContaining("does not count: disabled.")]);
    await grace.open(`/approvals/${payment.id}`);
    const decisions = page.getByRole("table", { name: "Decisions" }).getByRole("row");
    await decisions.filter({ hasText: "Linus" }).getByText("does not count: disabled").waitFor();
    expect(await decisions.filter({ hasText: "does not count" }).count()).toBe(1);
    // Which of them had counted is not recorded, so no number is shown as if all had.
    await approve(dorothy);
    await page.getByText("3 recorded").waitFor();
    await grace.open(`/transactions/${payment.id}`);
    await page.getByText("3 recorded, approved").waitFor();
    expect(await page.getByText("of 2").count()).toBe(0);
  });

  it("is asked before a client is enabled whose payments wait", async () => {
    const { service } = running();
    const program = await service.createIndependentClient(owner, ["transactions:write"], "Program");
    const body = { reference: "waits for its client", asset: "USD", amount: "70" };
    const headers = { "idempotency-key": crypto.randomUUID() };
    const created = await service.call("POST", "/v1/transactions", program.token, body, headers);
    const { id } = (await created.json()) as Transaction;
    await eventually(
      () => call<Transaction>("GET", `/v1/transactions/${id}`),
      ({ state }) => state === "awaiting_approval",
    );
    await service.changeAsOperator(program, { state: "disabled" });
    const { page } = ada;
    await ada.open(`/clients/${program.clientId}`);
    await page.getByRole("button", { name: "Enable", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("1 payment of 70.00 USD, awaiting approval").waitFor();
    await dialog.getByRole("button", { name: "Cancel", exact: true }).click();
    await call("POST", `/v1/transactions/${id}/cancel`);
    await page.getByRole("button", { name: "Enable", exact: true }).click();
    await dialog.getByText("Nothing waits.").waitFor();
    await dialog.getByRole("button", { name: "Cancel", exact: true }).click();
  });

  it("reads that a rejection is being carried out while the payment still waits", async () => {
    const payment = await pay("rejected", "50", "awaiting_approval");
    const { page } = alan;
    await alterAnswers(page, `**/v1/transactions/${payment.id}`, (body) => ({
      ...body,
      approval: { ...(body["approval"] as object), state: "rejected" },
    }));
    await alan.open(`/approvals/${payment.id}`);
    await page.getByText("a rejection is recorded, and is being carried out").waitFor();
    expect(await page.getByText("the payment is").count()).toBe(0);
    await page.unrouteAll();
  });

  it("does not sign beside what the allow-list said before, and looks at what it says now", async () => {
    const { id, ...payment } = await pay("to an address", "80", "awaiting_approval");
    const shown = { kind: "payout", network: "eip155:1", destination: { address: addressOf(7) } } as const;
    const terms = readApprovalTerms({ id, ...payment, ...shown } as ClientTransaction, owner.tenantId, 2);
    const digest = await approvalDigest(terms);
    let isListed = true;
    for (const { page } of [grace, alan]) {
      await alterAnswers(page, `**/v1/transactions/${id}`, (body) => ({
        ...{ ...body, ...shown },
        approval: { ...(body["approval"] as object), digest },
      }));
      await alterAnswers(page, "**/v1/destinations?**", (body) => (isListed ? body : { ...body, data: [] }));
    }
    // Nothing is read again by the clock.
    await alan.page.addInitScript("globalThis.setInterval = () => 0");
    const listedIn = ({ page }: Visitor) =>
      page.locator(".badge").filter({ hasText: "on the allow-list: treasury 7" });
    const approveOf = ({ page }: Visitor) => page.getByRole("button", { name: "Approve with the passkey" });
    for (const visitor of [grace, alan]) {
      await visitor.open(`/approvals/${id}`);
      await listedIn(visitor).waitFor();
    }
    isListed = false;
    alan.changes.splice(0);
    await approveOf(alan).click();
    await alan.page.getByRole("alert").getByText("Nothing was signed").waitFor({ timeout: 10_000 });
    await alan.page.getByText("not on the allow-list", { exact: true }).waitFor();
    expect(alan.changes).toEqual([]);
    expect(await approveOf(alan).isDisabled()).toBe(true);
    await alan.page.getByRole("button", { name: "I have looked at it again" }).click();
    await approveOf(alan).click();
    await expect.poll(() => alan.changes).toEqual([`POST /v1/transactions/${id}/approvals`]);
    // A page that is open learns it by itself, and so does one that is looked at again.
    await grace.page.getByText("The allow-list has changed").waitFor();
    expect(await listedIn(grace).count()).toBe(0);
    expect(await approveOf(grace).isDisabled()).toBe(true);
    isListed = true;
    await alan.page.evaluate("dispatchEvent(new Event('visibilitychange'))");
    await listedIn(alan).waitFor();
    await Promise.all([grace, alan].map(({ page }) => page.unrouteAll({ behavior: "ignoreErrors" })));
  });

  async function removalOf(digit: number): Promise<ChangeRequest> {
    const { data } = await call<{ data: { id: string; address: string }[] }>("GET", "/v1/destinations");
    const found = data.find(({ address }) => address === addressOf(digit));
    return await call<ChangeRequest>("DELETE", `/v1/destinations/${found?.id}`);
  }

  async function pay(reference: string, amount: string, state: Transaction["state"]): Promise<Transaction> {
    const { id } = await call<Transaction>("POST", "/v1/transactions", { reference, asset: "USD", amount });
    return await eventually(
      () => call<Transaction>("GET", `/v1/transactions/${id}`),
      (found) => found.state === state,
    );
  }

  async function call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const headers = method === "POST" ? { "idempotency-key": crypto.randomUUID() } : {};
    const response = await running().service.call(method, path, token, body, headers);
    const text = await response.text();
    expect([path, response.ok, response.ok ? "" : text]).toEqual([path, true, ""]);
    return JSON.parse(text === "" ? "{}" : text) as Answer;
  }
});
