import { createBursar } from "@bursar/client";
import type { PolicyDocument } from "@bursar/domain";
import type { ChangeRequest, Destination, Transaction } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { alterAnswers } from "../harness/console/alter-answers.js";
import { useConsole } from "../harness/console/test-console.js";
import type { Visitor } from "../harness/console/visitor.js";
import { eventually } from "../harness/eventually.js";
import { createTrader } from "../harness/markets/trader.js";
import { storePolicy } from "../harness/transactions/store-policy.js";

const running = useConsole();

const policy = {
  rules: [{ name: "one", when: { kind: "transaction" }, action: "require_approval", approvals: 1 }],
  default: { action: "allow" },
  changes: { approvals: 1 },
} as PolicyDocument;

async function start() {
  const { service, join } = running();
  const owner = await service.createTenant("100000");
  const token = await service.token(owner);
  const grace = await join(owner, "approver", { name: "Grace" });
  await storePolicy(service.database, { tenantId: owner.client.tenantId, clientId: owner.client.id }, policy);
  const call = async <Answer>(method: string, path: string, body?: object): Promise<Answer> => {
    const key = { "idempotency-key": crypto.randomUUID() };
    return (await (await service.call(method, path, token, body, key)).json()) as Answer;
  };
  return { grace, call };
}

async function expectRefused({ page, changes }: Visitor): Promise<void> {
  await page.getByRole("alert").filter({ hasText: "What this page shows is not what" }).waitFor();
  const approve = page.getByRole("button", { name: "Approve with the passkey" });
  expect(await approve.isDisabled()).toBe(true);
  expect(changes).toEqual([]);
}

describe.runIf(hasBrowser)("an approver to whom something else is shown than the service has", () => {
  it("does not approve fifty thousand as fifty, with other decimals", async () => {
    const { grace, call } = await start();
    const { page } = grace;
    const body = { reference: "decimals", asset: "USD", amount: "50000" };
    const { id } = await call<Transaction>("POST", "/v1/transactions", body);
    await eventually(
      () => call<Transaction>("GET", `/v1/transactions/${id}`),
      ({ state }) => state === "awaiting_approval",
    );
    await alterAnswers(page, `**/v1/transactions/${id}`, (answer) => ({ ...answer, amount: "50" }));
    await alterAnswers(page, "**/v1/assets", (answer) => ({
      ...answer,
      data: (answer["data"] as { code: string; decimals: number }[]).map((asset) =>
        asset.code === "USD" ? { ...asset, decimals: asset.decimals + 3 } : asset,
      ),
    }));
    grace.changes.splice(0);
    await grace.open(`/approvals/${id}`);
    await expectRefused(grace);
    await grace.close();
  });

  it("does not approve that another address is listed", async () => {
    const { grace, call } = await start();
    const { page } = grace;
    const [asked, shown] = ["6", "1"].map((digit) => `0x${digit.repeat(40)}`);
    const body = { label: "Supplier", network: "eip155:1", address: asked };
    const { id } = await call<ChangeRequest>("POST", "/v1/destinations", body);
    await alterAnswers(page, `**/v1/change-requests/${id}`, (answer) => ({
      ...answer,
      change: { ...(answer["change"] as object), address: shown },
    }));
    grace.changes.splice(0);
    await grace.open(`/change-requests/${id}`);
    await expectRefused(grace);
    await page.unrouteAll();
    await page.reload();
    await page.getByText("What is shown above is what the service has recorded").waitFor();
    await page.getByRole("button", { name: "Approve with the passkey" }).click();
    await page.getByText("Nothing can be decided any more: the change is applied").waitFor();
    const { data } = await call<{ data: Destination[] }>("GET", "/v1/destinations");
    expect(data.map(({ address }) => address)).toEqual([asked]);
    await grace.close();
  });

  it("learns that recorded approvals do not count", async () => {
    const { grace, call } = await start();
    const { page } = grace;
    const body = { label: "Supplier", network: "eip155:1", address: `0x${"7".repeat(40)}` };
    const { id } = await call<ChangeRequest>("POST", "/v1/destinations", body);
    await alterAnswers(page, `**/v1/change-requests/${id}`, (answer) => ({
      ...answer,
      decisions: [
        {
          client_id: "cli_01h455vb4pex5vsknk084sn02q",
          decision: "approve",
          comment: null,
          decided_at: answer["created_at"],
        },
      ],
    }));
    await grace.open(`/change-requests/${id}`);
    await page.getByText("Enough approvals are recorded, and the change still waits").waitFor();
    await grace.close();
  });
});

describe.runIf(hasBrowser)("a request to change a client or person", () => {
  it("names whom it changes to who decides, and is seen on the page of the person", async () => {
    const { service, join } = running();
    const { owner } = await createTrader(service, {});
    const bob = await join(owner, "approver", { name: "Bob" });
    const grace = await join(owner, "approver", { name: "Grace" });
    const alan = await join(owner, "admin", { name: "Alan" });
    const bursar = createBursar({ baseUrl: service.url, credentials: () => service.token(owner) });
    const { data } = await bursar.people.list().page();
    const { id } = data.find(({ name }) => name === "Bob") ?? { id: "" };
    const asked = await bursar.changeRequests.create({
      kind: "client.change",
      change: { client_id: id, state: "disabled" },
    });
    await grace.open("/change-requests");
    await grace.page.getByRole("row").filter({ hasText: "Bob" }).waitFor();
    await grace.open(`/change-requests/${asked.id}`);
    const target = grace.page.locator(".contents").filter({ hasText: /^Target/ });
    await expect.poll(() => target.innerText()).toMatch(new RegExp(`Bob\\s+${id}`));
    await alan.open(`/people/${id}`);
    await alan.page.getByRole("status").getByText("Change a client or person").waitFor();
    await grace.page.getByRole("button", { name: "Approve with the passkey" }).click();
    await grace.page.getByText("Nothing can be decided any more").waitFor();
    expect(await grace.page.getByText("Takes effect").count()).toBe(0);
    // Somebody who may not enable them reads the command of the operator, who may.
    await alan.open(`/people/${id}`);
    await alan.page.getByText(`bursar people enable ${id}`).waitFor({ timeout: 10_000 });
    await bob.close();
  });
});
