import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createTestDatabase } from "../harness/database/test-database.js";
import { eventually } from "../harness/eventually.js";
import { type BursarProcess, spawnBursar } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

describe("commands beside a running sandbox", () => {
  const dataDir = join(createTemporaryFolder("commands"), "data");
  let sandbox: BursarProcess;
  let url: string;
  beforeAll(async () => {
    sandbox = spawnBursar({ args: ["dev"], env: { BURSAR_DATA_DIR: dataDir } });
    url = await sandbox.ready();
    await sandbox.waitFor(/Ctrl-C stops/);
  });
  afterAll(async () => {
    sandbox.child.kill("SIGTERM");
    await sandbox.exited;
    rmSync(join(dataDir, ".."), { recursive: true });
  });

  const run = async (args: string[], env: Record<string, string> = {}) => {
    const bursar = spawnBursar({ args, env: { BURSAR_DATA_DIR: dataDir, ...env } });
    const { code } = await bursar.exited;
    return { code, output: bursar.output() };
  };
  const fieldOf = (output: string, name: string) =>
    new RegExp(`^${name} +(\\S+)$`, "m").exec(output)?.[1] ?? "";
  const statusOf = async (token: string) =>
    (await fetch(`${url}/v1/clients`, { headers: { authorization: `Bearer ${token.trim()}` } })).status;

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
      ["token", "--url", url, "--client-id", fieldOf(tenant.output, "client_id")],
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

  it("`policy` replaces a policy that its own `changes` have locked, and is audited as the operator's", async () => {
    const tenant = await run(["tenant", "create", "locked"]);
    const tenantId = fieldOf(tenant.output, "tenant_id");
    const { output: token } = await run(
      ["token", "--url", url, "--client-id", fieldOf(tenant.output, "client_id")],
      { BURSAR_CLIENT_SECRET: fieldOf(tenant.output, "client_secret") },
    );
    const get = async (path: string) =>
      (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token.trim()}` } })).json();
    const file = join(dataDir, "..", "policy.json");
    const locked = { rules: [], default: { action: "reject", reason: "No." }, changes: { approvals: 10 } };
    writeFileSync(file, JSON.stringify(locked));
    expect((await run(["policy", "set", tenantId, "--file", file])).output).toBe(
      `${tenantId} has policy version 1\n`,
    );
    expect(JSON.parse((await run(["policy", "show", "locked"])).output)).toEqual(locked);
    expect((await run(["policy", "reset", "locked"])).output).toBe(`${tenantId} has policy version 2\n`);
    expect(await get("/v1/policy")).toMatchObject({
      version: 2,
      document: { default: { action: "reject" } },
    });
    expect(await get("/v1/policy/versions")).toMatchObject({
      data: [
        { version: 2, created_by: null },
        { version: 1, created_by: null },
      ],
    });
    expect(await get("/v1/audit")).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({ action: "policy.replace", actor: "operator", object: "policy/2" }),
      ]),
    });
    writeFileSync(file, JSON.stringify({ rules: [], default: { action: "maybe" } }));
    expect(await run(["policy", "set", tenantId, "--file", file])).toMatchObject({
      code: 1,
      output: expect.stringContaining("body.default.action"),
    });
    writeFileSync(file, "{");
    expect((await run(["policy", "set", tenantId, "--file", file])).output).toContain(
      "cannot be read as JSON",
    );
  });

  it("`tenant` and `client` manage tenants and clients, and the secret is taken from the environment", async () => {
    const tenant = await run(["tenant", "create", "acme"]);
    const tenantId = fieldOf(tenant.output, "tenant_id");
    const secret = fieldOf(tenant.output, "client_secret");
    const first = await run(["token", "--url", url, "--client-id", fieldOf(tenant.output, "client_id")], {
      BURSAR_CLIENT_SECRET: secret,
    });
    expect(await statusOf(first.output)).toBe(200);
    expect((await run(["tenant", "list"])).output).toContain(tenantId);

    const made = await run(["client", "create", tenantId, "worker", "--scope", "clients:manage"]);
    const clientId = fieldOf(made.output, "client_id");
    const login = (clientSecret: string) =>
      run(["token", "--url", url, "--client-id", clientId], { BURSAR_CLIENT_SECRET: clientSecret });
    const { output: earlier } = await login(fieldOf(made.output, "client_secret"));
    expect(await statusOf(earlier)).toBe(200);
    expect((await run(["client", "list", tenantId])).output).toMatch(
      new RegExp(`^${clientId}  active    worker  clients:manage$`, "m"),
    );

    const rotated = await run(["client", "rotate", clientId, "--overlap", "0"]);
    expect((await login(fieldOf(made.output, "client_secret"))).code).toBe(1);
    // The tokens of a secret end with it.
    await eventually(
      () => statusOf(earlier),
      (status) => status === 401,
    );

    const { output: token } = await login(fieldOf(rotated.output, "client_secret"));
    expect(await statusOf(token)).toBe(200);
    expect((await run(["client", "rename", clientId, "clerk"])).output).toBe(`${clientId} is called clerk\n`);
    expect((await run(["client", "list", tenantId])).output).toMatch(new RegExp(`${clientId}.*clerk`));
    expect((await run(["client", "rename", clientId, ""])).code).toBe(2);
    expect((await run(["client", "disable", clientId])).output).toBe(`${clientId} is disabled\n`);
    await eventually(
      () => statusOf(token),
      (status) => status === 401,
    );
    await run(["client", "enable", clientId]);
    // It can authenticate again; its earlier tokens stay invalid.
    const again = await eventually(
      () => login(fieldOf(rotated.output, "client_secret")),
      ({ code }) => code === 0,
    );
    await eventually(
      () => statusOf(again.output),
      (status) => status === 200,
    );
    expect(await statusOf(token)).toBe(401);
  });

  it("`client reset` replaces all credentials, and `tenant set` opts out of independent approvers", async () => {
    const tenant = await run(["tenant", "create", "globex"]);
    const [tenantId, clientId] = [fieldOf(tenant.output, "tenant_id"), fieldOf(tenant.output, "client_id")];
    const login = (secret: string) =>
      run(["token", "--url", url, "--client-id", clientId], { BURSAR_CLIENT_SECRET: secret });
    const reset = await run(["client", "reset", clientId]);
    expect((await login(fieldOf(tenant.output, "client_secret"))).code).toBe(1);
    const { output: token } = await login(fieldOf(reset.output, "client_secret"));
    const isSingle = async () => {
      const me = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token.trim()}` } });
      return ((await me.json()) as { tenant: { single_administrator: boolean } }).tenant.single_administrator;
    };
    expect(await isSingle()).toBe(false);
    const set = await run(["tenant", "set", tenantId, "--single-administrator", "on"]);
    expect(set).toEqual({ code: 0, output: `${tenantId} has single_administrator on\n` });
    expect(await isSingle()).toBe(true);
    expect((await run(["tenant", "set", tenantId, "--single-administrator", "maybe"])).code).toBe(2);
    const unknown = ["tenant", "set", "tnt_01h455vb4pex5vsknk084sn02q", "--single-administrator", "on"];
    expect((await run(unknown)).output).toMatch(/does not exist/);
  });

  it("`client quota` sets and removes the quotas of a client", async () => {
    const { output: token } = await run(["token", "--client", "limited"]);
    const policy = async () =>
      (await fetch(`${url}/v1/assets`, { headers: { authorization: `Bearer ${token.trim()}` } })).headers.get(
        "ratelimit-policy",
      );
    expect(await policy()).toBe('"read";q=10;w=2');
    const clientId = String(decodeJwt(token.trim())["client_id"]);
    const changed = await run(["client", "quota", clientId, "read=100/150", "create=2/2"]);
    expect(changed).toEqual({ code: 0, output: `${clientId} has read=100/150 create=2/2\n` });
    await eventually(policy, (text) => text === '"read";q=150;w=2');
    expect((await run(["client", "quota", clientId])).output).toContain("has the default quotas");
    await eventually(policy, (text) => text === '"read";q=2000;w=2');
  });

  it.each([
    [["client", "quota", "cli_01h455vb4pex5vsknk084sn02q", "create=0/1"], "1 to 1000000 a second"],
    [["client", "quota", "cli_01h455vb4pex5vsknk084sn02q", "create"], "A quota looks like create=5/10"],
    [
      ["client", "create", "acme", "worker", "--scope", "audit:read"],
      "The id must be tnt_ followed by 26 letters and digits.",
    ],
    [["client", "create", "tnt_01h455vb4pex5vsknk084sn02q", "worker"], "required option '--scope"],
    [
      ["client", "create", "tnt_01h455vb4pex5vsknk084sn02q", "worker", "--scope", "everything"],
      "The scopes are wallets:read",
    ],
    [["client", "rotate", "cli_01h455vb4pex5vsknk084sn02q", "--overlap", "soon"], "whole number of seconds"],
    [["tenant"], "Usage: bursar tenant"],
  ])("%j is refused with 2", async (args, message) => {
    expect(await run(args)).toMatchObject({ code: 2, output: expect.stringContaining(message) });
  });

  it.each([
    ["postgres://nobody:x@", "refused the connection: password authentication failed"],
    ["unknown database", "refused the connection: database"],
  ])("explains a database that refuses the connection: %s", async (what, message) => {
    const own = new URL(inject("postgresUrl"));
    if (what === "unknown database") own.pathname = "/nowhere";
    else own.username = "nobody";
    const { code, output } = await run(["tenant", "list"], { DATABASE_URL: own.href });
    expect([code, output.includes("    at ")]).toEqual([1, false]);
    expect(output).toContain(message);
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
    const token = (await run(["token"])).output.trim();
    const wallets = (await (
      await fetch(`${url}/v1/wallets`, { headers: { authorization: `Bearer ${token}` } })
    ).json()) as { data: { id: string; role: string }[] };
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
    const entries = (await (
      await fetch(`${url}/v1/audit?limit=1`, { headers: { authorization: `Bearer ${token}` } })
    ).json()) as { data: object[] };
    expect(entries.data[0]).toMatchObject({ action: "wallet.fund", object: primary, actor: "operator" });
    const { code, output } = await run(["audit", "ledger"]);
    expect([code, output.match(/^holds/gm)?.length, output.includes("VIOLATED")]).toEqual([0, 12, false]);
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
      ((await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: unknown[] }).keys.length;
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

  it("`audit verify` verifies the hash chains", async () => {
    const { code, output } = await run(["audit", "verify"]);
    expect(code).toBe(0);
    expect(output).toMatch(/^tnt_\w+ {2}\d+ entries {2}intact {2}[0-9a-f]{64}$/m);
    expect(output).toMatch(/^\(no tenant\) {2}\d+ entries {2}intact/m);
  });

  it("keeps every secret out of the log", () => {
    const { clients } = JSON.parse(readFileSync(join(dataDir, "credentials.json"), "utf8")) as {
      clients: { client_secret: string }[];
    };
    for (const { client_secret } of clients) expect(sandbox.output()).not.toContain(client_secret);
    expect(sandbox.output()).not.toContain("eyJ");
  });

  it("require a sandbox or a database", async () => {
    const { code, output } = await run(["tenant", "list"], { BURSAR_DATA_DIR: "/nowhere" });
    expect([code, output]).toEqual([
      1,
      "bursar: No sandbox is running on /nowhere. Start one with `npm start`, or set DATABASE_URL.\n",
    ]);
  });
});
