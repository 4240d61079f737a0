import { decodeJwt } from "jose";
import { describe, expect, inject, it } from "vitest";
import { eventually } from "../harness/eventually.js";
import { startSandboxForFile } from "../harness/service/sandbox-commands.js";

describe("commands for tenants and clients beside a running sandbox", () => {
  const { url, bursarOf, run, fieldOf, statusOf } = startSandboxForFile("client-commands");

  it("`tenant` and `client` manage tenants and clients, and the secret is taken from the environment", async () => {
    const tenant = await run(["tenant", "create", "acme"]);
    const tenantId = fieldOf(tenant.output, "tenant_id");
    const secret = fieldOf(tenant.output, "client_secret");
    const first = await run(["token", "--url", url(), "--client-id", fieldOf(tenant.output, "client_id")], {
      BURSAR_CLIENT_SECRET: secret,
    });
    expect(await statusOf(first.output)).toBe(200);
    expect((await run(["tenant", "list"])).output).toContain(tenantId);

    const made = await run(["client", "create", "acme", "worker", "--scope", "clients:manage"]);
    const clientId = fieldOf(made.output, "client_id");
    const login = (clientSecret: string) =>
      run(["token", "--url", url(), "--client-id", clientId], { BURSAR_CLIENT_SECRET: clientSecret });
    const { output: earlier } = await login(fieldOf(made.output, "client_secret"));
    expect(await statusOf(earlier)).toBe(200);
    expect((await run(["client", "list", "acme"])).output).toMatch(
      new RegExp(`^${clientId}  active    worker  clients:manage$`, "m"),
    );

    const rotated = await run(["client", "rotate", clientId, "--overlap", "0"]);
    expect((await login(fieldOf(made.output, "client_secret"))).code).toBe(4);
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
      run(["token", "--url", url(), "--client-id", clientId], { BURSAR_CLIENT_SECRET: secret });
    const reset = await run(["client", "reset", clientId]);
    expect((await login(fieldOf(tenant.output, "client_secret"))).code).toBe(4);
    const { output: token } = await login(fieldOf(reset.output, "client_secret"));
    const isSingle = async () => (await bursarOf(token).me.get()).tenant.single_administrator;
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
    // The header is the subject, so this request is made by hand.
    const policy = async () =>
      (
        await fetch(`${url()}/v1/assets`, { headers: { authorization: `Bearer ${token.trim()}` } })
      ).headers.get("ratelimit-policy");
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
    [["client", "rename", "acme", "worker"], "The id must be cli_ followed by 26 letters and digits."],
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
});
