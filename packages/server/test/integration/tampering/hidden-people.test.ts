import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { type ProviderService, startProviderService } from "../../harness/people/provider-service.js";

describe("a person whose row is changed or gone for the length of one login", () => {
  let started: ProviderService;
  let service: ProviderService["service"];
  beforeAll(async () => {
    started = await startProviderService({ admins: "admin" });
    service = started.service;
  });
  afterAll(() => started?.stop());

  const logIn = async (sub: string, email = `${sub}@corp.example`) => {
    const claims = { email, email_verified: true, name: sub, groups: ["admins"], sub };
    const { status, code, body } = await started.logIn(claims);
    return { status, code, id: (body["person"] as { id: string } | undefined)?.id ?? "" };
  };
  const uuidOf = (shown: string) => readId("cli", shown) ?? "";
  const disable = (clientId: string) =>
    service.changeAsOperator({ tenantId: started.owner.tenantId, clientId }, { state: "disabled" });
  const recover = (id: string, options?: Parameters<typeof service.recoverAsOperator>[2]) =>
    service.recoverAsOperator(started.owner, id, options);
  const countPeople = async () => {
    const [row] = await service.database.query<{ count: string }>(
      sql`SELECT count(*) FROM clients WHERE email IS NOT NULL`,
    );
    return Number(row?.count);
  };
  const expectRefused = async (id: string, sub: string, email?: string) => {
    const before = await countPeople();
    expect(await logIn(sub, email)).toMatchObject({ status: 403, code: "OIDC_REFUSED" });
    expect(await countPeople()).toBe(before);
    const named = service.logLines.filter((line) => line.includes(id) && line.includes("was changed by"));
    expect(named.length).toBeGreaterThan(0);
  };

  it("does not keep an account that the operator has released", async () => {
    const { id } = await logIn("joe");
    await recover(id);
    await recover(id, { releasesAccounts: true });
    const other = await logIn("joe", "stranger@corp.example");
    expect([other.status, other.id === id]).toEqual([201, false]);
    // It stays that person's.
    expect((await logIn("joe", "stranger@corp.example")).id).toBe(other.id);
    expect((await logIn("joe-2", "joe@corp.example")).id).toBe(id);
  });

  it("is not two people after a recovery", async () => {
    const { id } = await logIn("eve");
    await recover(id);
    await service.database.query(sql`UPDATE clients SET former_accounts = NULL WHERE id = ${uuidOf(id)}`);
    await expectRefused(id, "eve", "eve.new@corp.example");
  });

  it("does not come back with another account and address in the row of before", async () => {
    const { id } = await logIn("mal");
    await disable(id);
    await service.database.query(
      sql`UPDATE clients SET oidc_subject = 'x', email = 'x@corp.example' WHERE id = ${uuidOf(id)}`,
    );
    await expectRefused(id, "mal");
    await expectRefused(id, "mal", "mal.new@corp.example");
    // Nor by another account with the same address.
    await expectRefused(id, "mal-2", "MAL@corp.example");
  });

  it("does not come back after the row is deleted", async () => {
    const { id } = await logIn("sam");
    await disable(id);
    await service.database.query(sql`DELETE FROM sessions WHERE client_id = ${uuidOf(id)}`);
    await service.database.query(sql`DELETE FROM client_secrets WHERE client_id = ${uuidOf(id)}`);
    await service.database.query(sql`DELETE FROM clients WHERE id = ${uuidOf(id)}`);
    await expectRefused(id, "sam");
  });

  it("does not lend the account to another person who waits for a first login", async () => {
    const { id } = await logIn("ann");
    await disable(id);
    await service.inviteAsOperator(started.owner, { email: "other@corp.example", name: "O", role: "admin" });
    await service.database.query(sql`UPDATE clients SET oidc_subject = 'z' WHERE id = ${uuidOf(id)}`);
    await expectRefused(id, "ann", "other@corp.example");
  });

  it("who has never used the provider is not a second person there", async () => {
    const email = "pat@corp.example";
    await service.inviteAsOperator(started.owner, { email, name: "Pat", role: "admin" });
    const hidden = await service.database.query<{ id: string }>(
      sql`UPDATE clients SET email = 'y@corp.example' WHERE email = ${email} RETURNING id`,
    );
    expect(hidden).toHaveLength(1);
    expect((await logIn("pat")).code).toBe("OIDC_REFUSED");
  });

  it("has no account that an earlier row of the person, which is authentic, does not name", async () => {
    const email = "kim@corp.example";
    await service.inviteAsOperator(started.owner, { email, name: "Kim", role: "admin" });
    await service.database.run(
      "CREATE TABLE saved AS SELECT * FROM clients WHERE email = 'kim@corp.example'",
    );
    const { id } = await logIn("kim");
    await service.database.run(
      "UPDATE clients c SET (oidc_issuer, oidc_subject, role, scopes, link_by, updated_at, credentials, key_id, mac) = (SELECT oidc_issuer, oidc_subject, role, scopes, link_by, updated_at, credentials, key_id, mac FROM saved) WHERE email = 'kim@corp.example'",
    );
    await expectRefused(id, "kim", "kim.new@corp.example");
  });
});
