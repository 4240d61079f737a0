import { generateKeyPairSync } from "node:crypto";
import { expect } from "vitest";
import { inspectSharedService } from "../service/shared-service.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "./officers.js";

const service = await inspectSharedService();

export const newPublicKey = () =>
  generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x as string;

/** Everything that an attack can use: the administrator, an officer that the operator made, and a payment that waits. */
export interface Scene extends GuardedTenant {
  officer: Person;
}

/**
 * Ways to approve one's own payment. Each returns what it ends with: the answer to the step that must be refused. Afterwards the payment
 * must still wait. An independent officer can then approve it, which shows that nothing but the attack was refused.
 */
type Attack = (scene: Scene) => Promise<{ status: number; code: string | undefined }>;

export const refusedChange = { status: 403, code: "CHANGE_REQUEST_REQUIRED" };
export const dependent = { status: 403, code: "APPROVER_NOT_INDEPENDENT" };
export const guarded = { rules: [], default: { action: "require_approval", approvals: 1 } };
export const allowAll = { rules: [], default: { action: "allow" } };

export async function putPolicy({ admin }: Scene, document: object) {
  const current = await service.call("GET", "/v1/policy", admin.token);
  await current.body?.cancel();
  const headers = { "if-match": current.headers.get("etag") ?? "" };
  const answer = await service.call("PUT", "/v1/policy", admin.token, document, headers);
  const body = (await answer.json()) as { id: string; digest: string; error?: { code: string } };
  return { status: answer.status, code: body.error?.code, body };
}

/** From here on, the officer must approve what loosens the policy. */
export async function lockPolicy(scene: Scene): Promise<void> {
  expect((await putPolicy(scene, { ...guarded, changes: { approvals: 1 } })).status).toBe(200);
}

/** With `changes` in the policy, the answer is a change request. */
export async function addDestination(scene: Scene, by = scene.admin) {
  const body = { label: "mine", network: "eip155:1", address: `0x${"1".repeat(40)}` };
  const asked = await scene.call(by, "POST", "/v1/destinations", body);
  return { ...asked, body: asked.body as unknown as { id: string; digest: string } };
}

export async function requestKey({ call, officer }: Scene, by: Person) {
  const change = { client_id: officer.clientId, public_key: newPublicKey() };
  const asked = await call(by, "POST", "/v1/change-requests", { kind: "client.key.add", change });
  return { body: asked.body as unknown as { id: string; digest: string } };
}

export function approveChange(
  { call }: Scene,
  by: Person,
  { body }: { body: { id: string; digest: string } },
) {
  return call(by, "POST", `/v1/change-requests/${body.id}/approve`, { digest: body.digest });
}

export async function placeOrder({ token }: Person) {
  const order = { market: "ETH-USD", side: "buy", price: "1", size: "1" };
  const headers = { "idempotency-key": crypto.randomUUID() };
  const answer = await service.call("POST", "/v1/orders", token, order, headers);
  const { error } = (await answer.json()) as { error?: { code: string } };
  return { status: answer.status, code: error?.code };
}

/** The payment of the scene that is to be approved, requested by the administrator unless another client is named. */
const payments = new WeakMap<Scene, Awaited<ReturnType<GuardedTenant["pay"]>>>();
export async function waiting(scene: Scene, payer: Person = scene.admin) {
  const payment = payments.get(scene) ?? (await scene.pay(payer));
  payments.set(scene, payment);
  return payment;
}

export type Attacks = Record<string, { attack: Attack; expected: object }>;

/** Tries an attack: it is refused, and the payment still waits for an independent officer. */
export async function tryAttack({ attack, expected }: Attacks[string]): Promise<void> {
  const tenant = await createGuardedTenant(service);
  const scene: Scene = { ...tenant, officer: await tenant.hire() };
  expect(await attack(scene)).toMatchObject(expected);
  const payment = await waiting(scene);
  expect(await scene.read(payment.id)).toMatchObject({ state: "awaiting_approval" });
  expect(await scene.approve(scene.officer, payment)).toMatchObject({ status: 202 });
  await scene.completes(payment);
}
