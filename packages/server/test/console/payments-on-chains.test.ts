import { randomUUID } from "node:crypto";
import { createBursar, type Transaction } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { findBarriers } from "../harness/console/look-at-page.js";
import { useConsole } from "../harness/console/test-console.js";
import type { Visitor } from "../harness/console/visitor.js";
import { createTrader } from "../harness/markets/trader.js";

const running = useConsole();

const followed = {
  ...{ object: "network", halted_reason: null, halted_at: null, head_block: 90, final_block: 80 },
  ...{ settled_block: 80, base_fee_gwei: "1", fee_cap_gwei: "200", fee_max: "0.05", finality: "10 blocks" },
  ...{ coin: "ETH.DEV", assets: ["ETH.DEV"], seen_at: "2026-11-18T07:59:58.000Z" },
  ...{ stalled_since: null, stalled_reason: null },
};

/** A person whose page shows a payment that waits for a block; the service has no chain. */
async function seeBroadcast() {
  const { service, join } = running();
  const { owner, token } = await createTrader(service, { USD: "100" });
  const role = { name: "payer", scopes: ["transactions:read", "transactions:write", "events:read"] };
  expect((await service.call("POST", "/v1/roles", token, role)).status).toBe(201);
  const bursar = createBursar({ baseUrl: service.url, credentials: async () => token });
  const sent = { reference: "by chain", asset: "USD", amount: "5" };
  const paid = await bursar.transactions.create(sent, { idempotencyKey: randomUUID() });
  const visitor = await join(owner, role.name);
  const shown: Transaction = {
    ...paid,
    state: "broadcast",
    version: 9,
    kind: "payout",
    network: "eip155:31337",
  };
  await visitor.page.route(`**/v1/transactions/${paid.id}`, (route) => route.fulfill({ json: shown }));
  await visitor.open(`/transactions/${paid.id}`);
  return { visitor, shown };
}

/** The page asks to speed up, and is answered so. */
async function answerSpeedUp({ page }: Visitor, status: number, json: object): Promise<void> {
  await page.unroute("**/speed-up");
  await page.route("**/speed-up", (route) => route.fulfill({ status, json }));
}

describe.runIf(hasBrowser)("a payment that waits for a block", () => {
  it("is sped up by a person who knows what that does, and why it was refused", async () => {
    const { visitor, shown } = await seeBroadcast();
    const { page } = visitor;
    const reason =
      "tx_01hw000000e008000000000001 of the same wallet has a lower nonce and is included first.";
    const error = {
      ...{ code: "NOT_REPLACEABLE", message: "The transaction cannot be sped up.", request_id: "req_1" },
      ...{ doc_url: "http://localhost/docs", details: [{ path: "path.id", reason }] },
    };
    await answerSpeedUp(visitor, 409, { error });
    await page.getByRole("button", { name: "Speed up" }).click();
    const dialog = page.getByRole("dialog", { name: "Send this payment again with higher fees?" });
    await dialog.getByText("at least 12.5 % higher").waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Speed up" }).click();
    await dialog.getByText(reason).waitFor();
    await dialog.getByText("Nothing was sent again.").waitFor();
    await dialog.getByRole("button", { name: "Leave it as it is" }).click();
    await answerSpeedUp(visitor, 202, shown);
    await page.getByRole("button", { name: "Speed up" }).click();
    await dialog.getByRole("button", { name: "Speed up" }).click();
    await page.getByRole("status").filter({ hasText: "Higher fees were requested." }).waitFor();
    await visitor.close();
  });

  it("says in every tab that its cancellation was requested, and by whom", async () => {
    const { visitor, shown } = await seeBroadcast();
    const { page } = visitor;
    await page.getByRole("button", { name: "Cancel the payment" }).waitFor();
    // Somebody else asks, in another browser.
    shown.cancel_request = {
      requested_at: new Date().toISOString(),
      requested_by: { type: "operator", client_id: null },
    };
    await page.getByText("by the operator").waitFor();
    await page.getByRole("status").filter({ hasText: "The cancellation was requested." }).waitFor();
    for (const name of ["Cancel the payment", "Speed up"])
      expect(await page.getByRole("button", { name }).count()).toBe(0);
    await visitor.close();
  });
});

it.runIf(hasBrowser)(
  "a network whose nodes do not answer says since when, on the page of a wallet too",
  async () => {
    const { service, join } = running();
    const { owner, token } = await createTrader(service, {});
    const network = "eip155:31337";
    const unreachable = {
      ...followed,
      id: network,
      state: "unreachable",
      unreachable_since: "2026-11-18T08:00:00.000Z",
    };
    const bursar = createBursar({ baseUrl: service.url, credentials: async () => token });
    const [wallet] = (await bursar.wallets.list().page()).data;
    const sending = { next_nonce: 1, in_flight: 0, oldest_in_flight_at: null, halted_reason: null };
    const visitor = await join(owner, "viewer");
    const { page } = visitor;
    await page.route("**/v1/networks", (route) => route.fulfill({ json: { data: [unreachable] } }));
    await page.route(`**/v1/wallets/${wallet?.id}`, (route) =>
      route.fulfill({
        json: { ...wallet, network, sending: { ...sending, blocked_by: "network_unreachable" } },
      }),
    );
    await visitor.open("/networks");
    await page.getByText(/No node has answered with a block since .*2026-11-18/).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await visitor.open(`/wallets/${wallet?.id}`);
    await page.getByText("No node of the network answers.").waitFor();
    await page.getByText("No answer since").waitFor();
    await visitor.close();
  },
);

describe.runIf(hasBrowser)("the list of transactions", () => {
  it("is filtered by the days of its creation, which are in the address, and asks for no time that cannot be", async () => {
    const { service, join } = running();
    const { owner, token } = await createTrader(service, { USD: "100" });
    const bursar = createBursar({ baseUrl: service.url, credentials: async () => token });
    const sent = { reference: "of today", asset: "USD", amount: "5" };
    const { created_at } = await bursar.transactions.create(sent, { idempotencyKey: randomUUID() });
    const visitor = await join(owner, "viewer");
    const { page } = visitor;
    const today = created_at.slice(0, 10);
    await visitor.open("/transactions");
    const row = page.getByRole("row").filter({ hasText: "of today" });
    await row.waitFor();
    await page.getByLabel("Until (UTC), days as a whole").fill("2020-01-31");
    await page.keyboard.press("Enter");
    await page.getByText("No transaction matches these filters.").waitFor();
    expect(new URL(page.url()).searchParams.get("until")).toContain("2020-02-01T00:00:00Z");
    await page.getByLabel("Until (UTC), days as a whole").fill(today);
    await page.keyboard.press("Enter");
    await row.waitFor();
    await page.reload();
    await row.waitFor();
    await page.getByLabel("From (UTC)").fill("2026-11-31");
    await page.keyboard.press("Enter");
    await page.getByText("is not a time").waitFor();
    await page.getByText("Correct the time that cannot be read").waitFor();
    expect(await row.count()).toBe(0);
    expect(visitor.faults).toEqual([]);
    await visitor.close();
  });

  it("tells wallets of one name apart by the ends of their ids, and so do the other pages", async () => {
    const { service, join } = running();
    const { owner, token } = await createTrader(service, { USD: "100" });
    const bursar = createBursar({ baseUrl: service.url, credentials: async () => token });
    const create = async (name: string) =>
      (await bursar.wallets.create({ name, purpose: "treasury" }, { idempotencyKey: randomUUID() })).id;
    const [one, two, alone] = [await create("payroll"), await create("Payroll"), await create("taxes")];
    const endOf = (id: string) => `…${id.slice(-8)}`;
    for (const [reference, wallet_id] of Object.entries({ one, two, alone }))
      await bursar.transactions.create(
        { reference, asset: "USD", amount: "1", destination: { wallet_id } },
        { idempotencyKey: randomUUID() },
      );
    const visitor = await join(owner, "viewer");
    const { page } = visitor;
    await visitor.open("/transactions");
    const rowOf = (name: string) =>
      page.getByRole("row").filter({ has: page.getByText(name, { exact: true }) });
    await rowOf("one").getByText(endOf(one)).waitFor({ timeout: 10_000 });
    await rowOf("two").getByText(endOf(two)).waitFor();
    await rowOf("alone").getByText("taxes").waitFor();
    expect(await page.getByText(endOf(alone)).count()).toBe(0);
    await visitor.open("/wallets");
    await page.getByRole("row").getByText(endOf(one)).waitFor();
    expect(await page.getByText(endOf(alone)).count()).toBe(0);
    await visitor.open("/transactions?reference=two");
    await page.getByRole("link", { name: "two", exact: true }).click();
    await page.getByRole("heading", { name: "Transaction", level: 1, exact: true }).waitFor();
    await page.getByText(endOf(two)).first().waitFor();
    await visitor.close();
  });
});
