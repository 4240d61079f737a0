import type { Kit } from "../engine/kit.js";
import { percentEncode } from "../http/percent-encode.js";
import { isObject } from "../http/reply.js";

/** Members of a transaction that a Bursar accepts and that then fails: its source is a new wallet, which is empty. Undefined without one. */
export async function findFailingOfBursar(kit: Kit): Promise<Record<string, unknown> | undefined> {
  const created = await kit.send("POST", "/v1/wallets", {
    headers: [
      ["Content-Type", "application/json"],
      ["Idempotency-Key", kit.newKey()],
    ],
    body: JSON.stringify({ name: kit.newName(), purpose: "payout" }),
  });
  const id = isObject(created.json) ? created.json["id"] : undefined;
  if (created.status !== 202 || typeof id !== "string") return undefined;
  return kit.poll(kit.target.timing.resultMs, async () => {
    const { json } = await kit.send("GET", `/v1/wallets/${percentEncode(id)}`);
    return isObject(json) && json["state"] === "active" ? { source: { wallet_id: id } } : undefined;
  });
}
