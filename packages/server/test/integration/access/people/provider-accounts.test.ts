import { showId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { eventually } from "../../../harness/eventually.js";
import { callConsole, cookieOf, registerWith } from "../../../harness/people/log-in.js";
import { type ProviderService, startProviderService } from "../../../harness/people/provider-service.js";

interface Shown {
  id: string;
  role: string;
  email: string;
}

interface Entry {
  action: string;
  outcome: string;
  objects: string[] | null;
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
  /** Waits until a statement with these words waits for a lock. */
  const isWaiting = (words: string) =>
    eventually(
      () =>
        service.database.query<{ query: string }>(
          sql`SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        ),
      (statements) => statements.some(({ query }) => query.includes(words)),
    );
  const accountOf = (sub: string) => `${started.provider.url}#${sub}`;
  const auditedActs = async () => {
    const answer = await service.call("GET", "/v1/audit?limit=40", await service.token(started.owner));
    const { data } = (await answer.json()) as { data: Entry[] };
    // Without what was set of the person.
    const isWho = (one: string) => !/^(name|role|scope)\w*:/.test(one);
    return data.map(({ action, outcome, objects }) => [action, outcome, objects?.filter(isWho)] as const);
  };
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

  it("opens no session that outlives a recovery which came in between", async () => {
    const { person } = await logIn("race", "execs", "race");
    // Otherwise its entry waits for the log as well.
    await eventually(auditedActs, (acts) => acts.some(([, , who]) => who?.includes(accountOf("race"))));
    // Both wait for the audit log, as behind a slow writer, and the login was begun last.
    const { recovering, late } = await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM audit_heads FOR UPDATE`);
      const begun = recover(person.id);
      await isWaiting("audit_heads");
      const login = logIn("race", "execs", "race");
      await isWaiting("FROM clients");
      return { recovering: begun, late: login };
    });
    await recovering;
    const { code, cookie } = await late;
    expect(code).toBe("OIDC_REFUSED");
    const token = await callConsole(service, "POST", "/token", undefined, cookieOf(cookie));
    expect(token.code).toBe("SESSION_REQUIRED");
  });

  it("is named in the audit log with the addresses: at its link, change and recovery, and when it is refused", async () => {
    await service.inviteAsOperator(started.owner, {
      ...{ email: "grace@corp.example", name: "Grace", role: "approver" },
    });
    const { person } = await logIn("grace", "approvers", "sub 1");
    await logIn("other", "approvers", "sub 1");
    const decoy = await logIn("decoy", "operators", "decoy");
    await disable(decoy.person.id);
    for (const [name, sub] of [
      ["decoy", "decoy"] as const,
      ["other", "thief-1"] as const,
      ["other", "thief-2"] as const,
    ])
      expect((await logIn(name, "approvers", sub)).code).toBe("OIDC_REFUSED");
    await recover(person.id, { email: "grace@corp.example" });
    const [grace, other] = ["grace@corp.example", "other@corp.example"];
    const about = [
      ["session.open", "refused", [decoy.person.id, accountOf("decoy"), "decoy@corp.example"]],
      ["session.open", "refused", [person.id, accountOf("thief-1"), other]],
      ["session.open", "refused", [person.id, accountOf("thief-2"), other]],
      ["person.invite", "succeeded", [person.id, grace]],
      ["person.link", "succeeded", [person.id, accountOf("sub%201"), grace, grace]],
      ["person.change", "succeeded", [person.id, accountOf("sub%201"), grace, other]],
      ["person.recover", "succeeded", [person.id, accountOf("sub%201"), other, grace]],
      ["session.open", "succeeded", [expect.stringMatching(/^ses_/), accountOf("sub%201")]],
    ];
    await eventually(auditedActs, (entries) => {
      try {
        expect(entries).toEqual(expect.arrayContaining(about));
        return true;
      } catch {
        return false;
      }
    });
  });
});
