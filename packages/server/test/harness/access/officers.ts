import type { PolicyDocument } from "@bursar/domain";
import { readId, type Scope, type Transaction } from "@bursar/protocol";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../eventually.js";
import type { InspectableService, TestClient } from "../service/test-service.js";

export type Person = Pick<TestClient, "tenantId" | "clientId" | "secret"> & { token: string };

const officerScopes: readonly Scope[] = ["transactions:approve", "transactions:read"];

/** A tenant whose payments need an approval, an administrator with every scope who pays, and officers of the operator. */
export async function createGuardedTenant(service: InspectableService, approvals = 1, from?: object) {
  const owner = await service.createTenant("100000");
  const admin: Person = { ...owner, token: await service.token(owner) };
  const document = {
    rules: [],
    default: { action: "require_approval", approvals, ...(from === undefined ? {} : { from }) },
  } as PolicyDocument;
  /** Written past the API, so that it is in force before the tenant's first request. */
  const usePolicy = (next: PolicyDocument) =>
    service.database.query(sql`
      INSERT INTO policies (tenant_id, version, document, client_id, created_at)
      SELECT ${readId("tnt", owner.tenantId)}, 1, ${JSON.stringify(next)}::jsonb, ${owner.client.id}, now()
    `);
  await usePolicy(document);

  const call = async (who: Person, method: string, path: string, body?: unknown) => {
    const response = await service.call(method, path, who.token, body);
    const text = await response.text();
    const answer = (text === "" ? {} : JSON.parse(text)) as { id: string; error?: { code: string } };
    return { status: response.status, code: answer.error?.code, body: answer };
  };
  /** A payment that waits for approval. */
  const pay = async (who: Person): Promise<Transaction> => {
    const body = { reference: "r", asset: "USD", amount: "5000" };
    const headers = { "idempotency-key": crypto.randomUUID() };
    const answer = await service.call("POST", "/v1/transactions", who.token, body, headers);
    const { id } = (await answer.json()) as Transaction;
    return eventually(
      () => read(id),
      ({ state }) => state === "awaiting_approval",
    );
  };
  const read = async (id: string) =>
    (await (await service.call("GET", `/v1/transactions/${id}`, admin.token)).json()) as Transaction;
  const approve = ({ token }: Pick<Person, "token">, payment: Transaction) =>
    call({ token } as Person, "POST", `/v1/transactions/${payment.id}/approvals`, {
      decision: "approve",
      digest: payment.approval?.digest,
    });
  const hire = (scopes: readonly Scope[] = officerScopes): Promise<Person> =>
    service.createIndependentClient(owner, scopes, "officer");
  /** A client that another one creates through the API. */
  const create = async (by: Person, scopes: readonly Scope[] = officerScopes): Promise<Person> => {
    const answer = await service.call("POST", "/v1/clients", by.token, { name: "made", scopes });
    const { id, secret } = (await answer.json()) as { id: string; secret: string };
    return login({ tenantId: owner.tenantId, clientId: id, secret });
  };
  const login = async (who: Omit<Person, "token">): Promise<Person> => ({
    ...who,
    token: await service.token(who),
  });
  /** Waits until the engine has counted the approvals and waits for more, or the payment has ended, failed or been set aside. */
  const tallied = ({ id }: Transaction) =>
    eventually(
      () =>
        service.database.query<{ isTallied: boolean }>(sql`
          SELECT due_at > now() OR last_error IS NOT NULL AS "isTallied" FROM open_transactions
          WHERE tenant_id = ${readId("tnt", owner.tenantId)} AND id = ${readId("tx", id)}`),
      ([row]) => row?.isTallied !== false,
    );
  const completes = (payment: Transaction) =>
    eventually(
      () => read(payment.id),
      ({ state }) => state === "completed",
    );
  return { owner, admin, call, pay, read, approve, hire, create, login, tallied, completes };
}

export type GuardedTenant = Awaited<ReturnType<typeof createGuardedTenant>>;
