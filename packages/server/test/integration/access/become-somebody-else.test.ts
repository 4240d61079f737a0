import { generateKeyPairSync } from "node:crypto";
import { allScopes, readId } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../harness/access/officers.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";

const service = await inspectSharedService();

const newPublicKey = () => generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x as string;

/** Everything that an attack can use: the administrator, an officer that the operator made, and a payment that waits. */
interface Scene extends GuardedTenant {
  officer: Person;
}

/**
 * Ways to approve one's own payment. Each returns what it ends with: the answer to the step that must be refused. Afterwards the payment
 * must still wait. An independent officer can then approve it, which shows that nothing but the attack was refused.
 */
type Attack = (scene: Scene) => Promise<{ status: number; code: string | undefined }>;

const refusedChange = { status: 403, code: "CHANGE_REQUEST_REQUIRED" };
const dependent = { status: 403, code: "APPROVER_NOT_INDEPENDENT" };
const attacks: Record<string, { attack: Attack; expected: object }> = {
  "give an officer a second secret": {
    attack: ({ call, admin, officer }) => call(admin, "POST", `/v1/clients/${officer.clientId}/secrets`, {}),
    expected: refusedChange,
  },
  "replace an officer's secret at once": {
    attack: ({ call, admin, officer }) =>
      call(admin, "POST", `/v1/clients/${officer.clientId}/secrets`, { overlap_seconds: 0 }),
    expected: refusedChange,
  },
  "add a shared key to an officer": {
    attack: ({ call, admin, officer }) =>
      call(admin, "POST", `/v1/clients/${officer.clientId}/keys`, { algorithm: "hmac-sha256" }),
    expected: refusedChange,
  },
  "add a public key to an officer": {
    attack: ({ call, admin, officer }) =>
      call(admin, "POST", `/v1/clients/${officer.clientId}/keys`, {
        algorithm: "ed25519",
        public_key: newPublicKey(),
      }),
    expected: refusedChange,
  },
  "disable an officer": {
    attack: ({ call, admin, officer }) =>
      call(admin, "PATCH", `/v1/clients/${officer.clientId}`, { state: "disabled" }),
    expected: refusedChange,
  },
  "take away an officer's scopes, to change the client when it is no longer protected": {
    attack: ({ call, admin, officer }) =>
      call(admin, "PATCH", `/v1/clients/${officer.clientId}`, { scopes: [] }),
    expected: refusedChange,
  },
  "give an officer more scopes": {
    attack: ({ call, admin, officer }) =>
      call(admin, "PATCH", `/v1/clients/${officer.clientId}`, { scopes: allScopes }),
    expected: refusedChange,
  },
  "hide a change of scopes behind a new name": {
    attack: ({ call, admin, officer }) =>
      call(admin, "PATCH", `/v1/clients/${officer.clientId}`, {
        name: "new",
        scopes: ["transactions:approve"],
      }),
    expected: refusedChange,
  },
  "make an officer sign, so that it cannot act": {
    attack: ({ call, admin, officer }) =>
      call(admin, "PATCH", `/v1/clients/${officer.clientId}`, { require_signature: true }),
    expected: refusedChange,
  },
  "remove an officer's secret": {
    attack: async ({ call, admin, officer }) => {
      const { body } = await call(admin, "GET", `/v1/clients/${officer.clientId}`);
      const [secret] = (body as unknown as { secrets: { id: string }[] }).secrets;
      return call(admin, "DELETE", `/v1/clients/${officer.clientId}/secrets/${secret?.id}`);
    },
    expected: refusedChange,
  },
  "approve as itself": {
    attack: async (scene) => scene.approve(scene.admin, await waiting(scene)),
    expected: { status: 403, code: "POLICY_REJECTED" },
  },
  "create an approver before the payment": {
    attack: async (scene) => {
      const made = await scene.create(scene.admin);
      return scene.approve(made, await waiting(scene));
    },
    expected: dependent,
  },
  "create an approver after the payment": {
    attack: async (scene) => {
      const payment = await waiting(scene);
      return scene.approve(await scene.create(scene.admin), payment);
    },
    expected: dependent,
  },
  "create a manager that creates an approver": {
    attack: async (scene) => {
      const manager = await scene.create(scene.admin, [
        "clients:manage",
        "transactions:approve",
        "transactions:read",
      ]);
      return scene.approve(await scene.create(manager), await waiting(scene));
    },
    expected: dependent,
  },
  "pay as a client that it has created, and approve as another one": {
    attack: async (scene) => {
      const payer = await scene.create(scene.admin, ["transactions:write", "transactions:read"]);
      const made = await scene.create(scene.admin);
      return scene.approve(made, await waiting(scene, payer));
    },
    expected: dependent,
  },
  "pay as a client that it has created, and approve as itself": {
    attack: async (scene) => {
      const payer = await scene.create(scene.admin, ["transactions:write", "transactions:read"]);
      return scene.approve(scene.admin, await waiting(scene, payer));
    },
    expected: dependent,
  },
  "take over a client of the operator that is not protected, and make it an approver": {
    attack: async (scene) => {
      const clerk = await scene.hire(["wallets:read"]);
      const rotated = await scene.call(scene.admin, "POST", `/v1/clients/${clerk.clientId}/secrets`, {});
      expect(rotated.status).toBe(201);
      const granted = await scene.call(scene.admin, "PATCH", `/v1/clients/${clerk.clientId}`, {
        scopes: ["transactions:approve", "transactions:read"],
      });
      expect(granted.status).toBe(200);
      const { secret } = rotated.body as unknown as { secret: string };
      return scene.approve(await scene.login({ ...clerk, secret }), await waiting(scene));
    },
    expected: dependent,
  },
  "grant the scope to a client whose secret it knows otherwise": {
    attack: async (scene) => {
      const clerk = await scene.hire(["wallets:read"]);
      await scene.call(scene.admin, "PATCH", `/v1/clients/${clerk.clientId}`, {
        scopes: ["transactions:approve", "transactions:read"],
      });
      return scene.approve(await scene.login(clerk), await waiting(scene));
    },
    expected: dependent,
  },
  "take over a client that pays, and approve as itself": {
    attack: async (scene) => {
      const payer = await scene.hire(["transactions:write", "transactions:read"]);
      const { body } = await scene.call(scene.admin, "POST", `/v1/clients/${payer.clientId}/secrets`, {});
      const { secret } = body as unknown as { secret: string };
      const taken = await scene.login({ ...payer, secret });
      return scene.approve(scene.admin, await waiting(scene, taken));
    },
    expected: dependent,
  },
  "wash the history of a client that it took over: let the client rotate its own secret": {
    attack: async (scene) => {
      const clerk = await scene.hire(["wallets:read"]);
      const own = `/v1/clients/${clerk.clientId}`;
      const { body } = await scene.call(scene.admin, "POST", `${own}/secrets`, { overlap_seconds: 0 });
      await scene.call(scene.admin, "PATCH", own, {
        scopes: ["clients:manage", "transactions:approve", "transactions:read"],
      });
      const taken = await scene.login({ ...clerk, secret: (body as unknown as { secret: string }).secret });
      const again = await scene.call(taken, "POST", `${own}/secrets`, { overlap_seconds: 0 });
      const { secret } = again.body as unknown as { secret: string };
      return scene.approve(await scene.login({ ...clerk, secret }), await waiting(scene));
    },
    expected: dependent,
  },
  "repeat the request that created an officer with its idempotency key": {
    attack: async (scene) => {
      const body = { name: "again", scopes: ["transactions:approve"] };
      const send = () =>
        service.call("POST", "/v1/clients", scene.admin.token, body, { "idempotency-key": "again" });
      const first = (await (await send()).json()) as { id: string; secret: string };
      const second = (await (await send()).json()) as { id: string; secret: null };
      expect([second.id, second.secret]).toEqual([first.id, null]);
      const made = await scene.login({ ...scene.admin, clientId: first.id, secret: first.secret });
      return scene.approve(made, await waiting(scene));
    },
    expected: dependent,
  },
  "send the token of a client of another tenant": {
    attack: async (scene) => {
      const other = await createGuardedTenant(service);
      return scene.approve(other.admin, await waiting(scene));
    },
    expected: { status: 404, code: "TRANSACTION_NOT_FOUND" },
  },
  "approve with the digest of a smaller payment": {
    attack: async (scene) => {
      const payment = await waiting(scene);
      return scene.approve(scene.officer, {
        ...payment,
        approval: payment.approval && { ...payment.approval, digest: "0".repeat(64) },
      });
    },
    expected: { status: 409, code: "APPROVAL_STALE" },
  },
  "rename an officer, so that another one looks like it": {
    attack: ({ call, admin, officer }) =>
      call(admin, "PATCH", `/v1/clients/${officer.clientId}`, { name: "somebody else" }),
    expected: refusedChange,
  },
  "starve an officer with a quota of almost nothing": {
    attack: ({ call, admin, officer }) =>
      call(admin, "PATCH", `/v1/clients/${officer.clientId}`, {
        quotas: { read: { per_second: 1, burst: 1 } },
      }),
    expected: refusedChange,
  },
  "replace the policy by one that allows everything": {
    attack: async (scene) => {
      await lockPolicy(scene);
      return putPolicy(scene, allowAll);
    },
    expected: { status: 202 },
  },
  "remove the approvers of changes from the policy": {
    attack: async (scene) => {
      await lockPolicy(scene);
      return putPolicy(scene, guarded);
    },
    expected: { status: 202 },
  },
  "name a client that it has created as the approver of changes": {
    attack: async (scene) => {
      const made = await scene.create(scene.admin);
      const changes = { approvals: 1, from: { clients: [made.clientId] } };
      return putPolicy(scene, { ...guarded, changes });
    },
    expected: { status: 422, code: "POLICY_INVALID" },
  },
  "approve its own change of the policy": {
    attack: async (scene) => {
      await lockPolicy(scene);
      return approveChange(scene, scene.admin, await putPolicy(scene, allowAll));
    },
    expected: { status: 403, code: "POLICY_REJECTED" },
  },
  "have a client that it has created approve its change of the policy": {
    attack: async (scene) => {
      await lockPolicy(scene);
      const made = await scene.create(scene.admin);
      return approveChange(scene, made, await putPolicy(scene, allowAll));
    },
    expected: dependent,
  },
  "give an officer a key by a change request, and approve it itself": {
    attack: async (scene) => approveChange(scene, scene.admin, await requestKey(scene, scene.admin)),
    expected: { status: 403, code: "POLICY_REJECTED" },
  },
  "give an officer a key by a change request, and have a client of its own approve it": {
    attack: async (scene) => {
      const made = await scene.create(scene.admin);
      return approveChange(scene, made, await requestKey(scene, scene.admin));
    },
    expected: dependent,
  },
  "have a client of its own request a key for an officer, and approve it": {
    attack: async (scene) => {
      const manager = await scene.create(scene.admin, [
        "clients:manage",
        "transactions:approve",
        "transactions:read",
      ]);
      return approveChange(scene, scene.admin, await requestKey(scene, manager));
    },
    expected: dependent,
  },
  "enable an officer that the operator has disabled": {
    attack: async (scene) => {
      const former = await scene.hire();
      await service.changeAsOperator(former, { state: "disabled" });
      return scene.call(scene.admin, "PATCH", `/v1/clients/${former.clientId}`, { state: "active" });
    },
    expected: refusedChange,
  },
  "use the token of an officer that was disabled, and enabled again, since": {
    attack: async (scene) => {
      const former = await scene.hire();
      const payment = await waiting(scene);
      await service.changeAsOperator(former, { state: "disabled" });
      await service.changeAsOperator(former, { state: "active" });
      return scene.approve(former, payment);
    },
    expected: { status: 401 },
  },
  "use a token from before the scope was taken away": {
    attack: async (scene) => {
      const former = await scene.hire();
      await service.changeAsOperator(former, { scopes: ["transactions:read"] });
      return scene.approve(former, await waiting(scene));
    },
    expected: { status: 403, code: "INSUFFICIENT_SCOPE" },
  },
  "rotate the secret of an approver that it has created": {
    attack: async (scene) => {
      const made = await scene.create(scene.admin);
      const { body } = await scene.call(scene.admin, "POST", `/v1/clients/${made.clientId}/secrets`, {});
      // The client is protected from its creator, too.
      expect(body.error?.code).toBe("CHANGE_REQUEST_REQUIRED");
      return scene.approve(made, await waiting(scene));
    },
    expected: dependent,
  },
  "turn a stolen token of an officer into a secret": {
    attack: ({ call, officer }) => call(officer, "POST", "/v1/me/secrets", {}),
    expected: { status: 403, code: "CREDENTIAL_PROOF_REQUIRED" },
  },
  "turn a stolen token of an officer into a secret, with a secret of its own as the proof": {
    attack: ({ call, officer, admin }) =>
      call(officer, "POST", "/v1/me/secrets", { current_secret: admin.secret }),
    expected: { status: 403, code: "CREDENTIAL_PROOF_REQUIRED" },
  },
  "put an address on the allow-list without the approval that changes need": {
    attack: async (scene) => {
      await lockPolicy(scene);
      const asked = await addDestination(scene);
      const { body } = await scene.call(scene.admin, "GET", "/v1/destinations");
      expect(body).toMatchObject({ data: [] });
      return asked;
    },
    expected: { status: 202 },
  },
  "put an address on the allow-list, and approve that itself": {
    attack: async (scene) => {
      await lockPolicy(scene);
      return approveChange(scene, scene.admin, await addDestination(scene));
    },
    expected: { status: 403, code: "POLICY_REJECTED" },
  },
  "put an address on the allow-list, and have a client that it has created approve that": {
    attack: async (scene) => {
      await lockPolicy(scene);
      const made = await scene.create(scene.admin);
      return approveChange(scene, made, await addDestination(scene));
    },
    expected: dependent,
  },
  "put an address on the allow-list with a client that has only destinations:manage": {
    attack: async (scene) => {
      await lockPolicy(scene);
      const clerk = await scene.create(scene.admin, ["destinations:manage", "transactions:approve"]);
      return approveChange(scene, scene.admin, await addDestination(scene, clerk));
    },
    expected: dependent,
  },
  "sell to somebody else in a market instead": {
    attack: ({ admin }) => placeOrder(admin),
    expected: { status: 403, code: "POLICY_REJECTED" },
  },
  "approve with an officer's token that lacks the scope": {
    attack: async (scene) =>
      scene.approve({ token: await service.token(scene.officer, "transactions:read") }, await waiting(scene)),
    expected: { status: 403, code: "INSUFFICIENT_SCOPE" },
  },
};

const guarded = { rules: [], default: { action: "require_approval", approvals: 1 } };
const allowAll = { rules: [], default: { action: "allow" } };

async function putPolicy({ admin }: Scene, document: object) {
  const current = await service.call("GET", "/v1/policy", admin.token);
  await current.body?.cancel();
  const headers = { "if-match": current.headers.get("etag") ?? "" };
  const answer = await service.call("PUT", "/v1/policy", admin.token, document, headers);
  const body = (await answer.json()) as { id: string; digest: string; error?: { code: string } };
  return { status: answer.status, code: body.error?.code, body };
}

/** From here on, the officer must approve what loosens the policy. */
async function lockPolicy(scene: Scene): Promise<void> {
  expect((await putPolicy(scene, { ...guarded, changes: { approvals: 1 } })).status).toBe(200);
}

/** With `changes` in the policy, the answer is a change request. */
async function addDestination(scene: Scene, by = scene.admin) {
  const body = { label: "mine", network: "eip155:1", address: `0x${"1".repeat(40)}` };
  const asked = await scene.call(by, "POST", "/v1/destinations", body);
  return { ...asked, body: asked.body as unknown as { id: string; digest: string } };
}

async function requestKey({ call, officer }: Scene, by: Person) {
  const change = { client_id: officer.clientId, public_key: newPublicKey() };
  const asked = await call(by, "POST", "/v1/change-requests", { kind: "client.key.add", change });
  return { body: asked.body as unknown as { id: string; digest: string } };
}

function approveChange({ call }: Scene, by: Person, { body }: { body: { id: string; digest: string } }) {
  return call(by, "POST", `/v1/change-requests/${body.id}/approve`, { digest: body.digest });
}

async function placeOrder({ token }: Person) {
  const order = { market: "ETH-USD", side: "buy", price: "1", size: "1" };
  const headers = { "idempotency-key": crypto.randomUUID() };
  const answer = await service.call("POST", "/v1/orders", token, order, headers);
  const { error } = (await answer.json()) as { error?: { code: string } };
  return { status: answer.status, code: error?.code };
}

/** The payment of the scene that is to be approved, requested by the administrator unless another client is named. */
const payments = new WeakMap<Scene, Awaited<ReturnType<GuardedTenant["pay"]>>>();
async function waiting(scene: Scene, payer: Person = scene.admin) {
  const payment = payments.get(scene) ?? (await scene.pay(payer));
  payments.set(scene, payment);
  return payment;
}

describe("a client that tries to approve its own payment", () => {
  it.each(Object.entries(attacks))("cannot %s", async (_name, { attack, expected }) => {
    const tenant = await createGuardedTenant(service);
    const scene: Scene = { ...tenant, officer: await tenant.hire() };
    expect(await attack(scene)).toMatchObject(expected);
    const payment = await waiting(scene);
    expect(await scene.read(payment.id)).toMatchObject({ state: "awaiting_approval" });
    expect(await scene.approve(scene.officer, payment)).toMatchObject({ status: 202 });
    await scene.completes(payment);
  });

  it("does not count twice by creating two approvers for another client's payment", async () => {
    const tenant = await createGuardedTenant(service, 2);
    const payer = await tenant.hire(["transactions:write", "transactions:read"]);
    const [one, other] = [await tenant.create(tenant.admin), await tenant.create(tenant.admin)];
    const officer = await tenant.hire();
    const payment = await tenant.pay(payer);
    for (const made of [one, other, tenant.admin])
      expect(await tenant.approve(made, payment)).toMatchObject({ status: 202 });
    await tenant.tallied(payment);
    expect(await tenant.read(payment.id)).toMatchObject({ state: "awaiting_approval" });
    await tenant.approve(officer, payment);
    await tenant.completes(payment);
  });

  it("cannot change a client that only the policy names", async () => {
    const plain = await createGuardedTenant(service);
    const clerk = await plain.hire(["wallets:read"]);
    await service.database.query(sql`
      UPDATE policies SET document = jsonb_set(document, '{groups}', ${JSON.stringify({ clerks: [clerk.clientId] })}::jsonb)
      WHERE tenant_id = ${readId("tnt", plain.owner.tenantId)}`);
    expect(await plain.call(plain.admin, "POST", `/v1/clients/${clerk.clientId}/secrets`, {})).toMatchObject(
      refusedChange,
    );
  });

  it("may still rename a client that is not protected, and change itself", async () => {
    const tenant = await createGuardedTenant(service);
    const clerk = await tenant.hire(["wallets:read"]);
    const renamed = await tenant.call(tenant.admin, "PATCH", `/v1/clients/${clerk.clientId}`, {
      name: "new",
    });
    expect(renamed.status).toBe(200);
    const own = await tenant.call(tenant.admin, "POST", `/v1/clients/${tenant.admin.clientId}/secrets`, {});
    expect(own.status).toBe(201);
  });
});
