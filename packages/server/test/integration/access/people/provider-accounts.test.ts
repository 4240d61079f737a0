import { showId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { registerWith } from "../../../harness/people/log-in.js";
import { type ProviderService, startProviderService } from "../../../harness/people/provider-service.js";

interface Shown {
  id: string;
  role: string;
  email: string;
}

describe("an account of an OpenID provider", () => {
  let started: ProviderService;
  let service: ProviderService["service"];
  beforeAll(async () => {
    started = await startProviderService({ execs: "admin", approvers: "approver", operators: "operator" });
    service = started.service;
  });
  afterAll(() => started?.stop());

  const logIn = async (name: string, group: string, sub: string) => {
    const email = `${name}@corp.example`;
    const answer = await started.logIn({ email, email_verified: true, name: "X", groups: [group], sub });
    const { error } = answer.body as { error?: { message: string } };
    return {
      ...{ status: answer.status, code: answer.code, cookie: answer.cookie },
      ...{ person: answer.body["person"] as Shown, message: error?.message },
    };
  };
  const recover = (id: string, options?: Parameters<typeof service.recoverAsOperator>[2]) =>
    service.recoverAsOperator(started.owner, id, options);
  const disable = (clientId: string) =>
    service.changeAsOperator({ tenantId: started.owner.tenantId, clientId }, { state: "disabled" });
  const emailsLike = async (name: string) => {
    const rows = await service.database.query<{ id: string; email: string }>(
      sql`SELECT id, email FROM clients WHERE email LIKE ${`${name}%`} ORDER BY email`,
    );
    return rows.map(({ id, email }) => [showId("cli", id), email]);
  };

  it("is the same person after a recovery, and no second one who approves the payments of the first", async () => {
    const { person } = await logIn("bob", "approvers", "bob");
    expect((await registerWith(service, await recover(person.id))).status).toBe(201);
    const second = await logIn("bob.new", "operators", "bob");
    expect([second.status, second.code]).toEqual([403, "OIDC_REFUSED"]);
    expect(second.message).toContain(`bursar people recover ${person.id} --email`);
    expect(await emailsLike("bob")).toEqual([[person.id, "bob@corp.example"]]);
    // The right address links it again, and from then on the address may change.
    expect((await logIn("BOB", "approvers", "bob")).person.id).toBe(person.id);
    expect((await logIn("bob.new", "approvers", "bob")).person).toMatchObject({
      ...{ id: person.id, email: "bob.new@corp.example" },
    });
  });

  it("is linked again by the operator, who gives the person the new address", async () => {
    const { person } = await logIn("eve", "approvers", "eve");
    await recover(person.id);
    expect((await logIn("eve.new", "approvers", "eve")).code).toBe("OIDC_REFUSED");
    await recover(person.id, { email: "eve.new@corp.example" });
    expect((await logIn("eve.new", "approvers", "eve")).person.id).toBe(person.id);
  });

  it("stays the person's after another account has got the address", async () => {
    const { person } = await logIn("ann", "execs", "ann-1");
    await recover(person.id);
    expect((await logIn("ann", "execs", "ann-2")).person.id).toBe(person.id);
    for (const name of ["ann", "ann.new"])
      expect((await logIn(name, "execs", "ann-1")).code).toBe("OIDC_REFUSED");
    expect(await emailsLike("ann")).toEqual([[person.id, "ann@corp.example"]]);
  });

  it("does not become somebody else by their address", async () => {
    const { person } = await logIn("kim", "execs", "kim");
    await recover(person.id);
    await service.inviteAsOperator(started.owner, { email: "lee@corp.example", name: "Lee", role: "admin" });
    expect((await logIn("lee", "execs", "kim")).code).toBe("OIDC_REFUSED");
  });

  it("of a disabled person is nobody, with any address", async () => {
    const { person } = await logIn("mal", "execs", "mal");
    await recover(person.id);
    await disable(person.id);
    for (const name of ["mal", "mal.new"])
      expect((await logIn(name, "execs", "mal")).code).toBe("OIDC_REFUSED");
    expect(await emailsLike("mal")).toEqual([[person.id, "mal@corp.example"]]);
  });

  it("is somebody else's if the operator says so", async () => {
    const { person } = await logIn("joe", "execs", "stranger");
    await recover(person.id, { releasesAccounts: true });
    const other = await logIn("stranger", "operators", "stranger");
    expect([other.status, other.person.id === person.id]).toEqual([201, false]);
    expect((await logIn("joe", "execs", "joe")).person.id).toBe(person.id);
  });
});
