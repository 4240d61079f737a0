import type { TestClient, TestService } from "../service/test-service.js";

/** Money from outside, as the operator's client credits it: with an event, unlike the balance that a test gives to a new tenant. */
export async function deposit(
  service: Pick<TestService, "call" | "token" | "createIndependentClient">,
  owner: TestClient,
  amount: string,
  asset = "USD",
): Promise<void> {
  const wallets = await service.call("GET", "/v1/wallets", await service.token(owner));
  const { data } = (await wallets.json()) as { data: { id: string; role: string }[] };
  const walletId = data.find(({ role }) => role === "primary")?.id;
  const { token } = await service.createIndependentClient(owner, ["deposits:write"]);
  const body = { reference: "in", asset, amount, destination: { wallet_id: walletId } };
  const answer = await service.call("POST", "/v1/deposits", token, body, { "idempotency-key": asset });
  if (answer.status !== 201) throw new Error(await answer.text());
}
