import { generateKeyPairSync } from "node:crypto";
import type { Scope } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { createGuardedTenant, type Person } from "../../../harness/access/officers.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

const dependent = { status: 403, code: "APPROVER_NOT_INDEPENDENT" };
const newPublicKey = () => generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x as string;

describe("a payment", () => {
  it.each<[string, (officer: Person) => Promise<void>]>([
    ["rotated", async (officer) => void (await service.addKeyAsOperator(officer, newPublicKey()))],
    [
      "disabled and enabled",
      async (officer) => {
        await service.changeAsOperator(officer, { state: "disabled" });
        await service.changeAsOperator(officer, { state: "active" });
      },
    ],
    [
      "given a scope",
      (officer) =>
        service.changeAsOperator(officer, {
          scopes: ["transactions:approve", "transactions:read", "wallets:read"] as Scope[],
        }),
    ],
  ])("gets no approval from an officer that was %s after the request", async (_name, change) => {
    const tenant = await createGuardedTenant(service);
    const officer = await tenant.hire();
    const payment = await tenant.pay(tenant.admin);
    await change(officer);
    const again = await tenant.login(officer);
    expect(await tenant.approve(again, payment)).toMatchObject(dependent);
    expect(await tenant.approve(again, await tenant.pay(tenant.admin))).toMatchObject({
      status: 202,
    });
  });

  it("loses an approval that was given before the officer was changed", async () => {
    const tenant = await createGuardedTenant(service, 2);
    const [anna, ben, cora] = [await tenant.hire(), await tenant.hire(), await tenant.hire()];
    const payment = await tenant.pay(tenant.admin);
    await tenant.approve(anna, payment);
    await service.addKeyAsOperator(anna, newPublicKey());
    await tenant.approve(ben, payment);
    await tenant.tallied(payment);
    expect(await tenant.read(payment.id)).toMatchObject({ state: "awaiting_approval" });
    await tenant.approve(cora, payment);
    await tenant.completes(payment);
  });
});
