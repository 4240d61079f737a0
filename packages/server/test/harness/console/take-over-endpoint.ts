import { type Bursar, createBursar } from "@bursar/client";
import { startWebhookReceiver } from "../webhooks/webhook-receiver.js";
import type { Visitor } from "./visitor.js";

/**
 * A person disables a program, reads which endpoint stops and sees it as disabled, makes it act for them, and gets a new secret; another
 * change of it shows none.
 */
export async function takeOverEndpoint(
  { page, open }: Visitor,
  bursar: Bursar,
  baseUrl: string,
): Promise<void> {
  const receiver = await startWebhookReceiver();
  const program = await bursar.clients.create(
    { name: "program", scopes: ["webhooks:manage", "transactions:read"] },
    { idempotencyKey: "program" },
  );
  const credentials = { clientId: program.id, secret: program.secret ?? "" };
  const { webhookEndpoints } = createBursar({ baseUrl, credentials });
  const url = `${receiver.url}/taken`;
  const { id } = await webhookEndpoints.create({ url }, { idempotencyKey: "taken" });
  await webhookEndpoints.verify(id);

  await open(`/clients/${program.id}`);
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await page.getByRole("dialog").getByRole("listitem").getByRole("link", { name: url }).waitFor();
  await page.getByRole("button", { name: "Disable with the passkey" }).click();
  await page.getByRole("button", { name: "Enable", exact: true }).waitFor();

  await open(`/webhooks/${id}`);
  const reason = page.getByText("because the client that it acts for is disabled");
  await reason.waitFor();
  const change = page.getByRole("button", { name: "Change", exact: true });
  const save = page.getByRole("button", { name: "Save with the passkey" });
  await change.click();
  await page.getByLabel("Description").fill("receiver of the treasury");
  await save.click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await page.getByText("receiver of the treasury").first().waitFor();
  await change.click();
  await page.getByLabel("let it act for me").check();
  await save.click();
  const secret = page.getByRole("dialog").getByText(/^whsec_/);
  await secret.waitFor();
  await page.getByRole("button", { name: "I have stored it" }).click();
  await secret.waitFor({ state: "hidden" });
  await reason.waitFor({ state: "hidden" });
  await receiver.stop();
}
