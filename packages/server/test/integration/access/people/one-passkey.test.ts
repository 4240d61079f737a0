import { createHash } from "node:crypto";
import { readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { macOfApproval, type SealedApproval } from "../../../../src/store/transactions/approval-integrity.js";
import { eventually } from "../../../harness/eventually.js";
import { createAuthenticator, passkeyHeader } from "../../../harness/people/authenticator.js";
import {
  callConfirmed,
  callConsole,
  consoleOriginOf,
  registerWith,
  tokenOf,
} from "../../../harness/people/log-in.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await inspectSharedService();

describe("one passkey", () => {
  let owner: TestClient;
  beforeEach(async () => {
    owner = await service.createTenant("100");
  });
  const device = () => createAuthenticator(consoleOriginOf(service));
  const invite = (email: string, role: string, to = owner) =>
    service.inviteAsOperator(to, { email, name: "Ada", role });
  const join = async (email: string, role: string, authenticator = device(), to = owner) => {
    const { cookie } = await registerWith(service, await invite(email, role, to), authenticator);
    return { token: await tokenOf(service, cookie), authenticator };
  };
  const call = async (method: string, path: string, token: string, body?: object, header?: string) => {
    const headers: Record<string, string> = header === undefined ? {} : { "bursar-passkey": header };
    const answer = await service.call(method, path, token, body, headers);
    return { status: answer.status, body: (await answer.json()) as Record<string, never> };
  };

  it("is one person of a tenant, also by its public key, and in a race", async () => {
    const shared = device();
    const [one, two] = [await invite("a@x.example", "approver"), await invite("b@x.example", "approver")];
    const raced = await Promise.all([registerWith(service, one, shared), registerWith(service, two, shared)]);
    expect(raced.map(({ status, code }) => [status, code]).toSorted()).toEqual([
      [201, undefined],
      [409, "PASSKEY_IN_USE"],
    ]);
    // The same key by another name.
    const third = { ...shared, ...renamed(shared) };
    const refused = await registerWith(service, await invite("c@x.example", "viewer"), third);
    expect([refused.status, refused.code]).toEqual([409, "PASSKEY_IN_USE"]);
    // The same key with its members in another order, which authenticators do not write.
    const fourth = { ...shared, ...renamed(shared, reordered) };
    const again = await registerWith(service, await invite("d@x.example", "viewer"), fourth);
    expect([again.status, again.code]).toEqual([409, "PASSKEY_IN_USE"]);
    // Nor is it added by somebody who has another one.
    const grace = await join("grace@x.example", "viewer");
    const options = (await call("POST", "/v1/me/passkeys/options", grace.token)).body as unknown as {
      challenge: string;
      user_handle: string;
    };
    const adding = { id: "addOwnPasskey", method: "POST", path: "/v1/me/passkeys" };
    const added = await callConfirmed(service, grace, adding, { name: "Two", ...shared.register(options) });
    expect([added.status, ((await added.json()) as { error: { code: string } }).error.code]).toEqual([
      409,
      "PASSKEY_IN_USE",
    ]);
  });

  it("confirms for one person of one tenant", async () => {
    const shared = device();
    const other = await service.createTenant("10");
    const [here, there] = [
      await join("a@x.example", "admin", shared),
      await join("a@x.example", "admin", shared, other),
    ];
    const body = { name: "aux", scopes: ["wallets:read"] };
    const digest = createHash("sha256").update(JSON.stringify(body)).digest("hex");
    const header = passkeyHeader(here, { act: "createClient", target: "/v1/clients", digest });
    const refused = await call("POST", "/v1/clients", there.token, body, header);
    expect([refused.status, refused.body["error"]?.["code"]]).toEqual([403, "PASSKEY_INVALID"]);
    expect((await call("POST", "/v1/clients", here.token, body, header)).status).toBe(201);
  });

  it("opens one session with one assertion, also if people of two tenants have it", async () => {
    const shared = device();
    await join("a@x.example", "viewer", shared);
    const handles = [shared.userHandle()];
    await join("a@x.example", "viewer", shared, await service.createTenant("10"));
    handles.push(shared.userHandle());
    const { body } = await callConsole(service, "POST", "/challenge");
    const assertion = shared.assert(body["challenge"] as string);
    const answers = await Promise.all(
      handles.map((user_handle) => callConsole(service, "POST", "", { user_handle, ...assertion })),
    );
    expect(answers.map(({ status, code }) => [status, code]).toSorted()).toEqual([
      [201, undefined],
      [403, "PASSKEY_INVALID"],
    ]);
  });

  it("approves once, also if two people have had it since before that was refused", async () => {
    const token = await service.token(owner);
    const policy = { rules: [], default: { action: "require_approval", approvals: 2, people: true } };
    const put = await service.call("PUT", "/v1/policy", token, policy, { "if-match": '"0"' });
    expect(put.status).toBe(200);
    const [ada, grace, eve] = [
      await join("a@x.example", "approver"),
      await join("g@x.example", "approver"),
      await join("e@x.example", "approver"),
    ];
    const paid = { reference: "r", asset: "USD", amount: "1" };
    const key = { "idempotency-key": crypto.randomUUID() };
    const { id } = (await (await service.call("POST", "/v1/transactions", token, paid, key)).json()) as {
      id: string;
    };
    const read = async () =>
      (await call("GET", `/v1/transactions/${id}`, token)).body as unknown as {
        state: string;
        approval: { digest: string; approved: number };
      };
    const { approval } = await eventually(read, ({ state }) => state === "awaiting_approval");
    const { digest } = approval;
    const act = { act: "transaction.approve", target: id, digest };
    const approve = (person: typeof ada, header = passkeyHeader(person, act)) =>
      call("POST", `/v1/transactions/${id}/approvals`, person.token, { decision: "approve", digest }, header);
    // The assertion of one person is none of another.
    expect((await approve(grace, passkeyHeader(ada, act))).status).toBe(403);
    expect((await approve(ada)).status).toBe(202);
    // The evidence of two people who have registered one passkey before that was refused, one of them in another order.
    await service.database.query(sql`
      UPDATE approval_signatures SET public_key = (
        SELECT overlay(decode(rpad(translate(m->>'publicKey', '-_', '+/'), (length(m->>'publicKey') + 3) / 4 * 4, '='), 'base64')
          PLACING ${reordered}::bytea FROM 1)
        FROM client_keys k, LATERAL (
          SELECT convert_from(CASE WHEN k.algorithm = 'passkey' THEN k.material ELSE '{}' END, 'UTF8')::jsonb AS m) j
        WHERE m->>'credentialId' = ${grace.authenticator.id})
      WHERE transaction_id = ${readId("tx", id)}
    `);
    // A public key that was changed since is not the one with which she has approved.
    expect((await read()).approval.approved).toBe(0);
    const [row] = await service.database.query<Omit<SealedApproval, "isSigned" | "publicKey">>(sql`
      SELECT tenant_id AS "tenantId", transaction_id AS "transactionId", version, client_id AS "clientId", decision,
        encode(digest, 'hex') AS digest, comment, decided_at AS "decidedAt"
      FROM approvals WHERE transaction_id = ${readId("tx", id)}
    `);
    if (row === undefined) throw new Error("nobody has approved");
    const { mac } = macOfApproval(service.keys, { ...row, isSigned: true, publicKey: null });
    await service.database.query(
      sql`UPDATE approvals SET mac = ${mac} WHERE transaction_id = ${readId("tx", id)}`,
    );
    // As in one from before the MAC covered it.
    expect((await read()).approval.approved).toBe(1);
    expect((await approve(grace)).status).toBe(202);
    const seen = (await service.call("GET", `/v1/transactions/${id}`, token)).headers.get("etag") ?? "";
    await service.call("GET", `/v1/transactions/${id}`, token, undefined, {
      ...{ "if-none-match": seen, prefer: "wait=1" },
    });
    expect((await read()).state).toBe("awaiting_approval");
    expect((await approve(eve)).status).toBe(202);
    await eventually(read, ({ state }) => state === "completed");
  });
});

/** The beginning of a key of P-256, and the same with the algorithm before the type. */
const ordered = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26]);
const reordered = Buffer.from([0xa5, 0x03, 0x26, 0x01, 0x02]);

/** The authenticator with another credential id for the same key. */
function renamed(authenticator: ReturnType<typeof createAuthenticator>, beginning = ordered) {
  const register: typeof authenticator.register = (options, faults) => {
    const made = authenticator.register(options, faults);
    const [from, to] = [Buffer.from(authenticator.id, "base64url"), Buffer.alloc(32, 7)];
    const attestation = Buffer.from(made.attestation_object, "base64url");
    to.copy(attestation, attestation.indexOf(from));
    beginning.copy(attestation, attestation.indexOf(ordered));
    return {
      ...made,
      id: to.toString("base64url"),
      attestation_object: attestation.toString("base64url"),
    };
  };
  return { register };
}
