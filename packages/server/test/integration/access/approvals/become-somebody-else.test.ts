import { grantableScopes, readId } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { createGuardedTenant } from "../../../harness/access/officers.js";
import {
  type Attacks,
  dependent,
  newPublicKey,
  refusedChange,
  tryAttack,
  waiting,
} from "../../../harness/access/own-payment.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

const attacks: Attacks = {
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
      call(admin, "PATCH", `/v1/clients/${officer.clientId}`, { scopes: grantableScopes }),
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
};

describe("a client that tries to approve its own payment", () => {
  it.each(Object.entries(attacks))("cannot %s", (_name, attack) => tryAttack(attack));

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
