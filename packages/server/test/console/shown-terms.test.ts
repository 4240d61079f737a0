import type { PolicyDocument } from "@bursar/domain";
import type { Transaction } from "@bursar/protocol";
import { expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";
import { eventually } from "../harness/eventually.js";
import { storePolicy } from "../harness/transactions/store-policy.js";

const running = useConsole();

const policy = {
  rules: [{ name: "one", when: { kind: "transaction" }, action: "require_approval", approvals: 1 }],
  default: { action: "allow" },
} as PolicyDocument;

const terms = [
  ["tenant", "tenant"],
  ["id", "id"],
  ["kind", "kind"],
  ["amount", "amount"],
  ["decimals", "decimals"],
  ["asset", "asset"],
  ["network", "network"],
  ["source", "source"],
  ["destination", "destination"],
  ["expires_at", "expires at"],
  ["created_by", "created by"],
] as const;

/** How something can be in a document and not be seen. */
const ways = [
  "display: none",
  "visibility: hidden",
  "opacity: 0",
  "font-size: 0",
  "content-visibility: hidden; display: block",
];

it.runIf(hasBrowser)("a page that does not show all that an approval covers does not approve", async () => {
  const { service, join } = running();
  const owner = await service.createTenant("100000");
  const token = await service.token(owner);
  const grace = await join(owner, "approver", { name: "Grace" });
  await storePolicy(service.database, { tenantId: owner.client.tenantId, clientId: owner.client.id }, policy);
  const body = { reference: "covered", asset: "USD", amount: "12500" };
  const created = await service.call("POST", "/v1/transactions", token, body, {
    "idempotency-key": "covered",
  });
  const { id } = (await created.json()) as Transaction;
  const stateOf = async () =>
    ((await (await service.call("GET", `/v1/transactions/${id}`, token)).json()) as Transaction).state;
  await eventually(stateOf, (state) => state === "awaiting_approval");

  const { page } = grace;
  const approve = page.getByRole("button", { name: "Approve with the passkey" });
  await grace.open(`/approvals/${id}`);
  await page.getByText("What is shown above is what the service has recorded").waitFor();
  grace.changes.splice(0);
  /** Changes the element in the page, and tries to approve. */
  const expectRefused = async (selector: string, change: string, words: string) => {
    await page.evaluate(`{ const one = document.querySelector(${JSON.stringify(selector)}); ${change} }`);
    await approve.click();
    const sentence = `The page does not show the ${words} of this payment.`;
    await page.getByRole("alert").filter({ hasText: sentence }).waitFor({ timeout: 10_000 });
    await page.reload();
    await page.getByText("What is shown above is what the service has recorded").waitFor();
  };
  for (const [index, [name, words]] of terms.entries()) {
    const change = `one.style.cssText = "${ways[index % ways.length]}";`;
    await expectRefused(`[data-term="${name}"]`, change, words);
  }
  await expectRefused('[data-term="amount"]', "one.removeAttribute('data-term');", "amount");
  await expectRefused('[data-term="amount"]', "one.after(one.cloneNode(true));", "amount");
  // 12 is not 12500.
  await expectRefused('[data-term="amount"] .group:last-of-type', "one.hidden = true;", "amount");
  expect(grace.changes).toEqual([]);
  expect(await stateOf()).toBe("awaiting_approval");

  await approve.click();
  await page
    .getByText("Your decision is recorded")
    .or(page.getByText("Nothing can be decided"))
    .first()
    .waitFor();
  await eventually(stateOf, (state) => state === "completed");
  await grace.close();
});
