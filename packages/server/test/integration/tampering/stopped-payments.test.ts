import { readId } from "@bursar/protocol";
import { expect, it } from "vitest";
import { operatorActorId } from "../../../src/app/events/actor.js";
import { isCancelledByStop } from "../../../src/store/access/stops/stop-records.js";
import { createSweepStore } from "../../../src/store/access/sweeps.js";
import { withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createSettlementStore } from "../../../src/store/transactions/settlement.js";
import { createGuardedTenant } from "../../harness/access/officers.js";
import { eventually } from "../../harness/eventually.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";
import { testAssets } from "../../harness/service/test-assets.js";

const service = await inspectTamperedService();

interface StopCase {
  isEnabled?: boolean;
  isRequested?: boolean;
}

/** Something else holds a lock while a client is disabled, so that only the stop is recorded. */
it.each([
  ["while the client is disabled", {}],
  ["if the client is enabled at once", { isEnabled: true }],
  // As for a wallet that was halted then: it still waits for approval.
  ["if that was requested before", { isRequested: true }],
])("payments that are to be cancelled with a disabled client are cancelled %s", async (_, when: StopCase) => {
  const tenant = await createGuardedTenant(service);
  const requester = await tenant.hire(["transactions:write", "transactions:read"]);
  const colleague = await tenant.hire(["transactions:write", "transactions:read"]);
  const payment = await tenant.pay(requester);
  const other = await tenant.pay(colleague);
  if (when.isRequested === true)
    await service.database.query(
      sql`UPDATE open_transactions SET cancel_requested = true WHERE id = ${readId("tx", payment.id)}`,
    );
  await service.database.transaction(async (tx) => {
    const tenantId = readId("tnt", tenant.owner.tenantId);
    await tx.query(sql`SELECT FROM audit_heads WHERE tenant_id = ${tenantId} FOR UPDATE`);
    await service.changeAsOperator(requester, { state: "disabled", cancel: ["transactions"] });
  });
  if (when.isEnabled === true) await service.changeAsOperator(requester, { state: "active" });
  await eventually(
    () => tenant.read(payment.id),
    ({ state }) => state === "cancelled",
  );
  expect(await tenant.read(other.id)).toMatchObject({ state: "awaiting_approval" });
});

/** The accounts are locked, so that neither the engine nor the cancellation comes first. */
it.each([
  ["as a whole, for the one who did it", true],
  ["as a record alone, for nobody", false],
])(
  "the engine does not pay what a stop cancels that was written %s, after the client was enabled",
  async (_, isWhole) => {
    const tenant = await createGuardedTenant(service);
    const tenantId = readId("tnt", tenant.owner.tenantId) ?? "";
    const officer = await tenant.hire();
    const requester = await tenant.hire(["transactions:write", "transactions:read"]);
    const { id } = await tenant.pay(requester);
    const key = { tenantId, id: readId("tx", id) ?? "" };
    const settlements = createSettlementStore(
      withKeys(service.database, service.keys),
      createEventLog({ publish: () => undefined }),
      testAssets,
    );
    const stop = () => service.changeAsOperator(requester, { state: "disabled", cancel: ["transactions"] });
    await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM ledger_accounts WHERE tenant_id = ${tenantId} FOR UPDATE`);
      if (isWhole) await stop();
      else
        await service.database.transaction(async (own) => {
          await own.query(sql`SELECT FROM audit_heads WHERE tenant_id = ${tenantId} FOR UPDATE`);
          await stop();
        });
      await service.changeAsOperator(requester, { state: "active" });
      const [claimed] = await eventually(
        () => settlements.unitOfWork((unit) => unit.claimAgain([key])),
        (payments) => payments.length === 1,
      );
      expect(claimed).toMatchObject({ isHeld: true });
    });
    await eventually(
      () => tenant.read(id),
      ({ state }) => state === "cancelled",
    );
    const [event] = await service.database.query<{ actorId: string | null }>(sql`
    SELECT actor_id AS "actorId" FROM events WHERE tenant_id = ${tenantId} AND subject_id = ${key.id} AND state = 'cancelled'`);
    expect(event).toEqual({ actorId: isWhole ? operatorActorId : null });
    // Its record stays, and costs nothing more.
    const { stops } = await createSweepStore(service.keyed).listCancellingStops(undefined, 1000);
    expect(stops.map(({ clientId }) => clientId)).not.toContain(readId("cli", requester.clientId));
    // What the client requests now is paid.
    const later = await tenant.pay(await tenant.login(requester));
    expect(await tenant.approve(officer, later)).toMatchObject({ status: 202 });
    await tenant.completes(later);
  },
);

it("payments of a client that is disabled already are cancelled, also if it is enabled at once", async () => {
  const tenant = await createGuardedTenant(service);
  const tenantId = readId("tnt", tenant.owner.tenantId) ?? "";
  const requester = await tenant.hire(["transactions:write", "transactions:read"]);
  const { id } = await tenant.pay(requester);
  await service.changeAsOperator(requester, { state: "disabled" });
  const [recorded] = await service.database.transaction(async (tx) => {
    await tx.query(sql`SELECT FROM ledger_accounts WHERE tenant_id = ${tenantId} FOR UPDATE`);
    await service.changeAsOperator(requester, { cancel: ["transactions"] });
    await service.changeAsOperator(requester, { state: "active" });
    return await tx.query<{ isCancelled: boolean }>(sql`
      SELECT ${isCancelledByStop(sql`t`)} AS "isCancelled" FROM transactions t
      WHERE t.tenant_id = ${tenantId} AND t.id = ${readId("tx", id)}`);
  });
  expect(recorded).toEqual({ isCancelled: true });
  await eventually(
    () => tenant.read(id),
    ({ state }) => state === "cancelled",
  );
});

it("what a stopped client requested is read back only as far as something is open in its tenant", async () => {
  const tenant = await createGuardedTenant(service);
  const tenantId = readId("tnt", tenant.owner.tenantId) ?? "";
  const officer = await tenant.hire(["transactions:read", "transactions:approve"]);
  const requester = await tenant.hire(["transactions:write", "transactions:read"]);
  const clientId = readId("cli", requester.clientId) ?? "";
  const payAndComplete = async () => {
    const payment = await tenant.pay(requester);
    await tenant.approve(officer, payment);
    await tenant.completes(payment);
  };
  const pageOf = (limit: number) => {
    const stop = { tenantId, clientId, recordedAt: new Date(Date.now() + 60_000), isPast: true };
    return createSweepStore(service.keyed).listStoppedPayments(stop, undefined, limit);
  };
  for (let count = 0; count < 3; count += 1) await payAndComplete();
  expect(await pageOf(2)).toEqual({ unsettled: [], onRail: [], next: undefined });
  const open = await tenant.pay(requester);
  for (let count = 0; count < 2; count += 1) await payAndComplete();
  const found = { unsettled: [readId("tx", open.id)], onRail: [] };
  // Three from the open one on, and the three before it are not read.
  expect(await pageOf(3)).toMatchObject(found);
  expect(await pageOf(4)).toEqual({ ...found, next: undefined });
});
