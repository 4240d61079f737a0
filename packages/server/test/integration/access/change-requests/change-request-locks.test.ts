import { randomBytes } from "node:crypto";
import { type ChangeRequest, readId } from "@bursar/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { createGuardedTenant } from "../../../harness/access/officers.js";
import { eventually } from "../../../harness/eventually.js";
import { startTestService } from "../../../harness/service/test-service.js";

/** Fewer connections than the bursts below have requests. */
const service = await startTestService({ BURSAR_DATABASE_CONNECTIONS: "4" });
afterAll(() => service.stop());

const addDestination = (token: string) =>
  service.call("POST", "/v1/change-requests", token, {
    kind: "destination.create",
    change: { label: "x", network: "eip155:1", address: `0x${randomBytes(20).toString("hex")}` },
  });

async function createTenantWithDecider() {
  const tenant = await createGuardedTenant(service);
  const officer = await tenant.hire();
  const decider = await tenant.hire(["clients:manage", "audit:read"]);
  const request = async (requireSignature: boolean) => {
    const change = { client_id: officer.clientId, require_signature: requireSignature };
    const body = { kind: "client.change", change };
    return (await tenant.call(tenant.admin, "POST", "/v1/change-requests", body))
      .body as unknown as ChangeRequest;
  };
  const approve = async ({ id, digest }: ChangeRequest) =>
    await tenant.call(decider, "POST", `/v1/change-requests/${id}/approve`, { digest });
  // The name of an officer is changed by the officer or the operator.
  const rename = async (name: string) => await service.changeAsOperator(officer, { name });
  return { tenant, officer, request, approve, rename };
}

describe("a change request that is applied", () => {
  it("needs one connection, so that a burst of one tenant does not stop the others", async () => {
    const [busy, other] = [await service.createTenant(), await service.createTenant("1000")];
    const [busyToken, otherToken] = [await service.token(busy), await service.token(other)];
    const burst = Array.from({ length: 20 }, async () => (await addDestination(busyToken)).json());
    const read = await service.call("GET", "/v1/wallets", otherToken);
    expect(read.status).toBe(200);
    const states = (await Promise.all(burst)).map((made) => (made as ChangeRequest).state);
    expect(new Set(states)).toEqual(new Set(["applied"]));
  });

  it("replaces the policy over one connection, once for each version", async () => {
    const token = await service.token(await service.createTenant());
    const document = { rules: [], default: { action: "reject", reason: "Closed." } };
    const change = { expected_version: 0, document };
    const made = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const answer = await service.call("POST", "/v1/change-requests", token, {
          kind: "policy.replace",
          change,
        });
        return { status: answer.status, body: (await answer.json()) as ChangeRequest };
      }),
    );
    expect(made.filter(({ body }) => body.state === "applied")).toHaveLength(1);
    expect(made.filter(({ status }) => status >= 500)).toEqual([]);
  });

  it("locks the client before the audit chain and the event log", async () => {
    const { officer, request, approve } = await createTenantWithDecider();
    const made = await request(true);
    const tenantId = readId("tnt", officer.tenantId);
    // As the engine does for a disabled client: first the client, at the end the event log.
    const approving = await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM clients WHERE id = ${readId("cli", officer.clientId)} FOR SHARE`);
      const pending = approve(made);
      const waiting = sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await eventually(
        () => tx.query(waiting),
        (rows) => rows.length > 0,
      );
      // What is recorded in batches holds the head of the chain for a moment.
      const isFree = (rows: readonly unknown[]) => rows.length > 0;
      const head = sql`SELECT FROM audit_heads WHERE tenant_id = ${tenantId} FOR UPDATE SKIP LOCKED`;
      await eventually(() => tx.query(head), isFree);
      const counter = sql`SELECT FROM event_sequences WHERE tenant_id = ${tenantId} FOR UPDATE SKIP LOCKED`;
      await eventually(() => tx.query(counter), isFree);
      return { pending };
    });
    expect(await approving.pending).toMatchObject({ status: 200, body: { state: "applied" } });
  });

  it("does not deadlock with direct changes of the same client", async () => {
    const { request, approve, rename } = await createTenantWithDecider();
    for (let round = 0; round < 20; round += 1) {
      const made = await request(round % 2 === 0);
      const [answer] = await Promise.all([approve(made), rename(`a${round}`), rename(`b${round}`)]);
      expect(answer.status).toBe(200);
    }
    expect(service.logLines.filter((line) => line.includes("deadlock detected"))).toEqual([]);
  });

  it("is audited in the order of what happened", async () => {
    const owner = await service.createTenant();
    const token = await service.token(owner);
    await (await addDestination(token)).text();
    const entries = await service.database.query<{ action: string }>(sql`
      SELECT action FROM audit_entries WHERE tenant_id = ${owner.client.tenantId} AND action <> 'token.issue'
      ORDER BY number DESC LIMIT 3
    `);
    expect(entries.map(({ action }) => action)).toEqual([
      "change_request.apply",
      "destination.create",
      "change_request.create",
    ]);
  });
});
