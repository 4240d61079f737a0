import type { Bursar } from "@bursar/client";
import type { Visitor } from "./visitor.js";

/** A person makes the endpoint of a program act for them, and gets a new secret; another change of it shows none. */
export async function takeOverEndpoint({ page, open }: Visitor, bursar: Bursar): Promise<void> {
  const url = "http://127.0.0.1:9/taken";
  const { id } = await bursar.webhookEndpoints.create({ url, events: ["*"] }, { idempotencyKey: "taken" });
  await open(`/webhooks/${id}`);
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
}
