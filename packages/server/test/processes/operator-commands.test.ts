import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { createTestDatabase } from "../harness/database/test-database.js";
import { eventually } from "../harness/eventually.js";
import { startSandboxForFile } from "../harness/service/sandbox-commands.js";

describe("commands beside a running sandbox", () => {
  const { dataDir, url, bursarOf, output, run, fieldOf, statusOf } = startSandboxForFile("commands");

  it("`token` prints a token for the sandbox, with the requested scopes, for any of its clients", async () => {
    expect(statSync(join(dataDir, "credentials.json")).mode & 0o777).toBe(0o600);
    const { output: token } = await run(["token"]);
    expect(await statusOf(token)).toBe(200);
    const narrow = await run(["token", "--client", "other", "--scope", "audit:read", "events:read"]);
    expect(decodeJwt(narrow.output.trim())).toMatchObject({ scope: "audit:read events:read" });
    expect(decodeJwt(narrow.output.trim())["tenant_id"]).not.toBe(decodeJwt(token.trim())["tenant_id"]);
    expect(await statusOf(narrow.output)).toBe(403);
  });

  it("`tenant suspend` refuses the tokens of a tenant, by its name or id, and `tenant resume` ends that", async () => {
    const tenant = await run(["tenant", "create", "stopped"]);
    const tenantId = fieldOf(tenant.output, "tenant_id");
    const { output: token } = await run(
      ["token", "--url", url(), "--client-id", fieldOf(tenant.output, "client_id")],
      { BURSAR_CLIENT_SECRET: fieldOf(tenant.output, "client_secret") },
    );
    expect(await statusOf(token)).toBe(200);
    expect((await run(["tenant", "suspend", "stopped"])).output).toBe(`${tenantId} is suspended\n`);
    expect((await run(["tenant", "suspend", tenantId])).output).toBe(`${tenantId} is already suspended\n`);
    await eventually(
      () => statusOf(token),
      (status) => status === 403,
    );
    expect((await run(["tenant", "list"])).output).toMatch(
      new RegExp(`^${tenantId} .* suspended  stopped$`, "m"),
    );
    expect((await run(["tenant", "resume", tenantId])).output).toBe(`${tenantId} is active\n`);
    await eventually(
      () => statusOf(token),
      (status) => status === 200,
    );
    expect(await run(["tenant", "suspend", "nobody"])).toMatchObject({
      code: 1,
      output: "bursar: Tenant nobody does not exist.\n",
    });
  });

  it("`people sessions` finds a person by address, and ends all sessions", async () => {
    await run(["tenant", "create", "treasury"]);
    const invited = await run([
      ...["people", "invite", "ada@treasury.example"],
      ...["--role", "viewer", "--tenant", "treasury"],
    ]);
    const id = fieldOf(invited.output, "person");
    expect(invited.output).toMatch(/^role +viewer\nscopes +.*transactions:read/m);
    const sessions = (email: string) => run(["people", "sessions", email, "--tenant", "treasury", "--end"]);
    expect(await sessions("ada@treasury.example")).toMatchObject({
      code: 0,
      output: `0 sessions of ${id} are ended\n`,
    });
    expect(await sessions("nobody@treasury.example")).toMatchObject({
      code: 1,
      output: "bursar: The tenant has no person nobody@treasury.example.\n",
    });
  });

  it("`people recover` refuses a disabled person, whom `people enable` enables, and is audited as the operator's", async () => {
    const { output: tenant } = await run(["tenant", "create", "disabled"]);
    const { output: token } = await run(
      ["token", "--url", url(), "--client-id", fieldOf(tenant, "client_id")],
      { BURSAR_CLIENT_SECRET: fieldOf(tenant, "client_secret") },
    );
    const invited = await run([
      ...["people", "invite", "alan@treasury.example"],
      ...["--role", "approver", "--tenant", "disabled"],
    ]);
    const id = fieldOf(invited.output, "person");
    expect(await run(["people", "disable", id])).toMatchObject({ code: 0, output: `${id} is disabled\n` });
    expect(await run(["people", "recover", id])).toMatchObject({
      code: 1,
      output: `bursar: ${id} is disabled, so its link would not work. Run \`bursar people enable ${id}\` first.\n`,
    });
    expect(await run(["people", "enable", id])).toMatchObject({ code: 0, output: `${id} is active\n` });
    expect((await run(["people", "recover", id])).output).toContain("#invitation=");
    const { data } = await bursarOf(token).audit.list({ object: id }).page();
    expect(data.map(({ action, actor }) => [action, actor])).toEqual(
      ["recover", "change", "change", "invite"].map((act) => [`person.${act}`, "operator"]),
    );
  });

  it("`policy` replaces a policy that its own `changes` have locked, and is audited as the operator's", async () => {
    const tenant = await run(["tenant", "create", "locked"]);
    const tenantId = fieldOf(tenant.output, "tenant_id");
    const { output: token } = await run(
      ["token", "--url", url(), "--client-id", fieldOf(tenant.output, "client_id")],
      { BURSAR_CLIENT_SECRET: fieldOf(tenant.output, "client_secret") },
    );
    const bursar = bursarOf(token);
    const file = join(dataDir, "..", "policy.json");
    // The reason clears the screen of a terminal that acts on it.
    const reason = "No.\u009b2J\u202e";
    const locked = { rules: [], default: { action: "reject", reason }, changes: { approvals: 10 } };
    writeFileSync(file, JSON.stringify(locked));
    expect((await run(["policy", "set", tenantId, "--file", file])).output).toBe(
      `${tenantId} has policy version 1\n`,
    );
    const { output: shown } = await run(["policy", "show", "locked"]);
    expect(JSON.parse(shown)).toEqual(locked);
    expect(shown).toContain("No.\\u009b2J\\u202e");
    expect((await run(["policy", "reset", "locked"])).output).toBe(`${tenantId} has policy version 2\n`);
    expect(await bursar.policy.get()).toMatchObject({
      version: 2,
      document: { default: { action: "reject" } },
    });
    expect(await bursar.policy.versions().page()).toMatchObject({
      data: [
        { version: 2, created_by: null },
        { version: 1, created_by: null },
      ],
    });
    expect(await bursar.audit.list().page()).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({ action: "policy.replace", actor: "operator", object: "policy/2" }),
      ]),
    });
    writeFileSync(file, JSON.stringify({ rules: [], default: { action: "maybe" } }));
    expect(await run(["policy", "set", tenantId, "--file", file])).toMatchObject({
      code: 2,
      output: expect.stringMatching(/^ {2}default\.action /m),
    });
    writeFileSync(file, "{");
    for (const unreadable of [file, `${file}.missing`])
      expect(await run(["policy", "set", tenantId, "--file", unreadable])).toMatchObject({
        code: 2,
        output: expect.stringContaining("cannot be read as JSON"),
      });
    // The file is in order, so the refusal is about something else.
    writeFileSync(file, JSON.stringify(locked));
    expect(await run(["policy", "set", "nobody", "--file", file])).toMatchObject({ code: 1 });
  });

  it("`policy set` knows the markets of the sandbox, so it accepts what `policy show` has printed", async () => {
    const document = JSON.parse((await run(["policy", "show", "sandbox"])).output);
    const rule = { name: "eth", action: "allow", when: { kind: "order", markets: ["ETH-USD"] } };
    const file = join(dataDir, "..", "markets.json");
    writeFileSync(file, JSON.stringify({ ...document, rules: [rule, ...document.rules] }));
    expect(await run(["policy", "set", "sandbox", "--file", file])).toMatchObject({
      code: 0,
      output: expect.stringContaining("has policy version"),
    });
  });

  it("reports an old schema and an unknown tenant in one sentence", async () => {
    const empty = await createTestDatabase("empty");
    expect((await run(["tenant", "list"], { DATABASE_URL: empty.url })).output).toMatch(
      /^bursar: The schema of the database is at step 0 of /,
    );
    await empty.drop();
    const unknown = await run([
      "client",
      "create",
      "tnt_01h455vb4pex5vsknk084sn02q",
      "worker",
      "--scope",
      "audit:read",
    ]);
    expect(unknown.output).toBe("bursar: Tenant tnt_01h455vb4pex5vsknk084sn02q does not exist.\n");
    const listed = await run(["client", "list", "tnt_01h455vb4pex5vsknk084sn02q"]);
    expect(listed.output).toBe("bursar: Tenant tnt_01h455vb4pex5vsknk084sn02q does not exist.\n");
  });

  it("`fund` credits a wallet, and `audit ledger` checks the ledger", async () => {
    const bursar = bursarOf((await run(["token"])).output);
    const wallets = await bursar.wallets.list().page();
    const primary = wallets.data.find(({ role }) => role === "primary")?.id ?? "";
    expect((await run(["fund", primary, "USD", "12.50"])).output).toMatch(
      new RegExp(
        `^If the outcome is unknown, repeat the command with --key op-[0-9a-f]{24}\n${primary} has received 12.5 USD\n$`,
      ),
    );
    expect((await run(["fund", primary, "USD", "0.001"])).output).toBe(
      "bursar: 0.001 is not a valid amount of USD: too precise.\n",
    );
    expect(await run(["fund", primary, "USD", `${"9".repeat(60)}`])).toEqual({
      code: 1,
      output: expect.stringMatching(/^bursar: 9{60} is above the maximum of 1\d+ USD\.\n$/),
    });
    expect((await run(["fund", "wlt_01h455vb4pex5vsknk084sn02q", "USD", "1"])).output).toMatch(
      /^bursar: Wallet wlt_\w+ does not exist/,
    );
    const entries = await bursar.audit.list({ limit: 1 }).page();
    expect(entries.data[0]).toMatchObject({ action: "wallet.fund", object: primary, actor: "operator" });
    const log = await bursar.events.list({ limit: 200 }).page();
    const transaction = { kind: "deposit", amount: "12.5", destination: { wallet_id: primary } };
    expect(log.data).toContainEqual(
      expect.objectContaining({
        event: "transaction.updated",
        actor: { type: "operator", client_id: null },
        data: expect.objectContaining({ transaction: expect.objectContaining(transaction) }),
      }),
    );
    const { code, output } = await run(["audit", "ledger"]);
    expect([code, output.match(/^holds/gm)?.length, output.includes("VIOLATED")]).toEqual([0, 16, false]);
  });

  it("`failures` lists the rows that failed and retries them", async () => {
    const database = await createTestDatabase();
    const on = { DATABASE_URL: database.url };
    expect(await run(["failures", "list"], on)).toEqual({ code: 0, output: "No row has failed.\n" });
    await database.run(`
      INSERT INTO tenants (id, name, created_at) VALUES ('01890a5d-ac96-774b-bcce-b302099a8057', 'tenant', now());
      INSERT INTO wallets (tenant_id, id, name, purpose, network, state, version, created_at, updated_at, attempts, last_error, retry_at)
      VALUES ('01890a5d-ac96-774b-bcce-b302099a8057', '01890a5d-ac96-774b-bcce-b302099a8057', 'wallet', 'treasury', 'book',
        'creating', 1, now(), now(), 3, E'refused\\n', '2999-01-01Z')
    `);
    const id = "wlt_01h455vb4pex5vsknk084sn02q";
    expect((await run(["failures", "list"], on)).output).toBe(
      `${id}  tnt_01h455vb4pex5vsknk084sn02q  3 attempts  2999-01-01T00:00:00.000Z  refused\\u{a}\n`,
    );
    expect((await run(["failures", "retry"], on)).output).toBe(
      "bursar: Name the id of one row, or pass --all.\n",
    );
    expect((await run(["failures", "retry", id], on)).output).toBe("1 row is due now.\n");
    expect((await run(["failures", "list"], on)).output).not.toContain("2999");
    expect((await run(["failures", "retry", "--all"], on)).output).toBe("1 row is due now.\n");
    await database.drop();
  });

  it("a client that does not exist is named", async () => {
    expect(await run(["client", "disable", "cli_01h455vb4pex5vsknk084sn02q"])).toEqual({
      code: 1,
      output: "bursar: Client cli_01h455vb4pex5vsknk084sn02q does not exist.\n",
    });
  });

  it("`keys rotate` publishes the next key while the old one signs, and tokens stay valid", async () => {
    const { output: before } = await run(["token"]);
    const published = async () =>
      ((await (await fetch(`${url()}/.well-known/jwks.json`)).json()) as { keys: unknown[] }).keys.length;
    expect(await published()).toBe(1);
    expect((await run(["keys", "rotate"])).output).toMatch(/^key_\w+ is published and signs from /);
    // On a busy machine the new key may sign already: it does so 30 seconds after it was published.
    expect((await run(["keys", "list"])).output).toMatch(
      / signs\n.* published, signs later\n$| verifies earlier tokens\n.* signs\n$/,
    );
    await eventually(published, (count) => count === 2);
    expect(await statusOf(before)).toBe(200);
    expect(await statusOf((await run(["token"])).output)).toBe(200);
  });

  it("`audit verify` verifies the hash chains, also after `recover`, which writes to each", async () => {
    expect((await run(["recover"])).code).toBe(0);
    const { code, output } = await run(["audit", "verify"]);
    expect(code).toBe(0);
    expect(output).toMatch(/^tnt_\w+ {2}\d+ entries {2}intact {2}[0-9a-f]{64}$/m);
    expect(output).toMatch(/^\(no tenant\) {2}\d+ entries {2}intact/m);
  });

  it("keeps every secret out of the log", () => {
    const { clients } = JSON.parse(readFileSync(join(dataDir, "credentials.json"), "utf8")) as {
      clients: { client_secret: string }[];
    };
    for (const { client_secret } of clients) expect(output()).not.toContain(client_secret);
    expect(output()).not.toContain("eyJ");
  });

  it("require a sandbox or a database", async () => {
    const { code, output } = await run(["tenant", "list"], { BURSAR_DATA_DIR: "/nowhere" });
    expect([code, output]).toEqual([
      1,
      "bursar: No sandbox is running on /nowhere. Start one with `npm start`, or set DATABASE_URL.\n",
    ]);
  });
});
