import type { ChangeRequest } from "@bursar/protocol";
import { expect, it } from "vitest";
import { createGuardedTenant } from "../../../harness/access/officers.js";
import { dependent, newPublicKey } from "../../../harness/access/own-payment.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

it("a client that has a key of the one that requests approves neither its payment nor its change", async () => {
  const { admin, hire, pay, approve, call, create } = await createGuardedTenant(service);
  const officer = await hire(["transactions:approve", "transactions:read", "clients:manage"]);
  const other = await hire();
  const target = await create(admin);
  const key = newPublicKey();
  for (const who of [admin, officer]) await service.addKeyAsOperator(who, key);
  const payment = await pay(admin);
  const asked = await call(admin, "POST", "/v1/change-requests", {
    ...{ kind: "client.change", change: { client_id: target.clientId, state: "disabled" } },
  });
  const { id, digest } = asked.body as unknown as ChangeRequest;
  const answers = [
    await approve(officer, payment),
    await call(officer, "POST", `/v1/change-requests/${id}/approve`, { digest }),
  ];
  expect(answers).toMatchObject([dependent, dependent]);
  expect(JSON.stringify(answers)).toContain("have a public key in common");
  expect((await approve(other, payment)).status).toBe(202);
});
