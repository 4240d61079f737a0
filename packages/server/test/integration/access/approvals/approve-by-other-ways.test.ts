import { describe, expect, it } from "vitest";
import { createGuardedTenant } from "../../../harness/access/officers.js";
import {
  type Attacks,
  addDestination,
  allowAll,
  approveChange,
  dependent,
  guarded,
  lockPolicy,
  placeOrder,
  putPolicy,
  refusedChange,
  requestKey,
  tryAttack,
  waiting,
} from "../../../harness/access/own-payment.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

const attacks: Attacks = {
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

describe("a client that tries to approve its own payment by other ways", () => {
  it.each(Object.entries(attacks))("cannot %s", (_name, attack) => tryAttack(attack));
});
