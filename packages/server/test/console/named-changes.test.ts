import { createBursar } from "@bursar/client";
import { describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";
import { createTrader } from "../harness/markets/trader.js";

const running = useConsole();

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
