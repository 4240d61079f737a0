import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callConsole, cookieOf, logInWith, registerWith, tokenOf } from "../../../harness/people/log-in.js";
import { type OidcFaults, oidcClient, startOidcProvider } from "../../../harness/people/oidc-provider.js";
import {
  startTestService,
  type TestClient,
  type TestService,
} from "../../../harness/service/test-service.js";
import { createTemporaryFolder } from "../../../harness/temporary-folder.js";

type Provider = Awaited<ReturnType<typeof startOidcProvider>>;

describe("a login with an OpenID provider", () => {
  let provider: Provider;
  let service: TestService;
  let owner: TestClient;
  beforeAll(async () => {
    provider = await startOidcProvider();
    const first = await startTestService();
    owner = await first.createTenant();
    const settings = {
      BURSAR_OIDC_ISSUER: provider.url,
      BURSAR_OIDC_CLIENT_ID: oidcClient.id,
      BURSAR_OIDC_CLIENT_SECRET: oidcClient.secret,
      "quotas.address_per_second": "100000",
      "quotas.address_burst": "100000",
    };
    const row = (value: string, role: string) =>
      `  - {value: ${value}, tenant: ${owner.tenantId}, role: ${role}}\n`;
    const file = join(createTemporaryFolder("oidc"), "bursar.yaml");
    writeFileSync(file, `oidc_roles:\n${row("treasury", "operator")}${row("audit", "auditor")}`);
    const { database, masterKey } = first;
    service = await startTestService(
      { ...settings, BURSAR_CONFIG: file },
      { database, masterKey, publicUrl: undefined },
    );
    stopFirst = first.stop;
  });
  let stopFirst: () => Promise<void>;
  afterAll(async () => {
    await service.stop();
    await stopFirst();
    await provider.stop();
  });

  const begin = async () => {
    const { body, cookie, code } = await callConsole(service, "POST", "/oidc");
    return { url: String(body["url"]), cookie, code };
  };
  const finish = (parameters: URLSearchParams, cookie: string) =>
    callConsole(service, "POST", "/oidc/callback", { parameters: String(parameters) }, cookieOf(cookie));
  const claims = (email: string, groups: unknown = ["treasury"], more = {}) => ({
    ...{ email, email_verified: true, name: "Ada", groups },
    ...more,
  });
  const logIn = async (given: object, faults?: OidcFaults) => {
    const { url, cookie } = await begin();
    return await finish(provider.authorize(url, given, faults), cookie);
  };

  it("asks for a code with PKCE, state and nonce, and remembers them in a cookie of its own", async () => {
    const { url, cookie } = await begin();
    const asked = new URL(url).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      ...{ response_type: "code", client_id: "bursar", code_challenge_method: "S256" },
      redirect_uri: expect.stringMatching(/^http:\/\/localhost:\d+\/console\/oidc$/),
    });
    for (const name of ["state", "nonce", "code_challenge"]) expect(asked.get(name)?.length).toBe(43);
    expect(cookie).toMatch(
      /^__Host-bursar-oidc=[^;]+; Max-Age=600; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie).not.toContain(asked.get("state"));
  });

  it("creates the person with the role of the row, who is the same the next time, with the role of then", async () => {
    const first = await logIn(claims("ada@treasury.example"));
    expect([first.status, first.body["person"]]).toMatchObject([
      201,
      { email: "ada@treasury.example", role: "operator", state: "invited", created_by: null },
    ]);
    const token = await tokenOf(service, first.cookie);
    const me = (await (await service.call("GET", "/v1/me", token)).json()) as { client: { id: string } };
    const again = await logIn(claims("Ada@Treasury.example", "audit"));
    expect(again.body["person"]).toMatchObject({ id: me.client.id, role: "auditor" });
    // The earlier session had another role, and ends.
    expect((await callConsole(service, "POST", "/token", undefined, cookieOf(first.cookie))).code).toBe(
      "SESSION_REQUIRED",
    );
    // Without a passkey, nothing that asks for one.
    const role = { name: "reader", scopes: ["wallets:read"] };
    expect((await service.call("POST", "/v1/roles", await tokenOf(service, again.cookie), role)).status).toBe(
      403,
    );
  });

  it.each<[string, OidcFaults]>([
    ["another nonce", { nonce: "another" }],
    ["another audience", { audience: "another" }],
    ["another issuer", { issuer: "https://another.example" }],
    ["a signature by another key", { isUnsigned: true }],
  ])("is refused with %s", async (_name, faults) => {
    expect((await logIn(claims("eve@treasury.example"), faults)).code).toBe("OIDC_REFUSED");
  });

  it("is refused with another state, another browser, another issuer of the answer, or a code that was used", async () => {
    const { url, cookie } = await begin();
    const other = await begin();
    const changed = (name: string, value: string) => {
      const parameters = provider.authorize(url, claims("eve@treasury.example"));
      parameters.set(name, value);
      return parameters;
    };
    expect((await finish(changed("state", "x"), cookie)).code).toBe("OIDC_REFUSED");
    expect((await finish(changed("iss", "https://another.example"), cookie)).code).toBe("OIDC_REFUSED");
    const parameters = provider.authorize(url, claims("grace@treasury.example"));
    expect((await finish(parameters, other.cookie)).code).toBe("OIDC_REFUSED");
    expect((await finish(parameters, "")).code).toBe("OIDC_REFUSED");
    expect((await finish(parameters, cookie)).status).toBe(201);
    expect((await finish(parameters, cookie)).code).toBe("OIDC_REFUSED");
    // Also if the provider would issue another code for the same login.
    expect((await finish(provider.authorize(url, claims("grace@treasury.example")), cookie)).code).toBe(
      "OIDC_REFUSED",
    );
  });

  it.each<[string, object]>([
    ["a value without a row", claims("eve@treasury.example", ["guests"])],
    ["no claim", claims("eve@treasury.example", "", { groups: undefined })],
    [
      "an address that was not verified",
      claims("eve@treasury.example", "treasury", { email_verified: false }),
    ],
    ["no address", claims("", "treasury")],
  ])("is refused with %s, and creates nobody", async (_name, given) => {
    expect((await logIn(given)).code).toBe("OIDC_NO_ROLE");
    const people = await service.call("GET", "/v1/people", await service.token(owner));
    expect(await people.text()).not.toContain("eve@");
  });

  it("does not concern passkeys while the provider is down", async () => {
    const link = await service.inviteAsOperator(owner, {
      ...{ email: "key@treasury.example", name: "Key", role: "viewer" },
    });
    const { authenticator } = await registerWith(service, link);
    const { url, cookie } = await begin();
    provider.setDown(true);
    try {
      const parameters = provider.authorize(url, claims("ada@treasury.example"));
      const down = await finish(parameters, cookie);
      expect([down.status, down.code]).toEqual([503, "OIDC_UNAVAILABLE"]);
      expect((await logInWith(service, authenticator)).status).toBe(201);
    } finally {
      provider.setDown(false);
    }
  });
});
