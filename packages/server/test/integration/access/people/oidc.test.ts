import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOidcProvider } from "../../../../src/credentials/oidc-provider.js";
import { callConsole, cookieOf, logInWith, registerWith, tokenOf } from "../../../harness/people/log-in.js";
import { type OidcFaults, oidcClient } from "../../../harness/people/oidc-provider.js";
import { type ProviderService, startProviderService } from "../../../harness/people/provider-service.js";

describe("a login with an OpenID provider", () => {
  let started: ProviderService;
  let provider: ProviderService["provider"];
  let service: ProviderService["service"];
  let owner: ProviderService["owner"];
  let begin: ProviderService["begin"];
  let finish: ProviderService["finish"];
  let logIn: ProviderService["logIn"];
  beforeAll(async () => {
    started = await startProviderService({ treasury: "operator", audit: "auditor" });
    ({ provider, service, owner, begin, finish, logIn } = started);
  });
  afterAll(() => started?.stop());

  const claims = (email: string, groups: unknown = ["treasury"], more = {}) => ({
    ...{ email, email_verified: true, name: "Ada", groups },
    ...more,
  });

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
      { email: "ada@treasury.example", role: "operator", state: "active", created_by: null },
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
    ["another nonce", { claims: { nonce: "another" } }],
    ["no nonce", { claims: { nonce: undefined } }],
    ["another audience", { claims: { aud: "another" } }],
    ["another issuer", { claims: { iss: "https://another.example" } }],
    ["an expired ID token", { claims: { exp: Math.floor(Date.now() / 1000) - 60 } }],
    ["a signature by another key", { isForged: true }],
  ])("is refused with %s", async (_name, faults) => {
    expect((await logIn(claims("eve@treasury.example"), faults)).code).toBe("OIDC_REFUSED");
  });

  it("accepts an ID token that the second key has signed, so that the changed claims alone are refused", async () => {
    expect((await logIn(claims("second@treasury.example"), {})).status).toBe(201);
  });

  it("is refused with another state, another browser or another issuer of the answer", async () => {
    const { url, cookie } = await begin();
    const other = await begin();
    const changed = async (name: string, value: string) => {
      const parameters = await provider.authorize(url, claims("eve@treasury.example"));
      parameters.set(name, value);
      return parameters;
    };
    expect((await finish(await changed("state", "x"), cookie)).code).toBe("OIDC_REFUSED");
    expect((await finish(await changed("iss", "https://another.example"), cookie)).code).toBe("OIDC_REFUSED");
    const parameters = await provider.authorize(url, claims("grace@treasury.example"));
    expect((await finish(parameters, other.cookie)).code).toBe("OIDC_REFUSED");
    expect((await finish(parameters, "")).code).toBe("OIDC_REFUSED");
    // None of these has used the code.
    expect((await finish(parameters, cookie)).status).toBe(201);
  });

  it("is refused with a code that was used or belongs to another login, and once it has succeeded", async () => {
    const { url, cookie } = await begin();
    const other = await begin();
    const parameters = await provider.authorize(url, claims("grace@treasury.example"));
    expect((await finish(parameters, cookie)).status).toBe(201);
    const refusalsOf = async (given: URLSearchParams, by: string) => {
      provider.refusals.length = 0;
      const { code } = await finish(given, by);
      return [code, ...provider.refusals];
    };
    expect(await refusalsOf(parameters, cookie)).toEqual(["OIDC_REFUSED", "invalid_grant"]);
    const stolen = await provider.authorize(url, claims("grace@treasury.example"));
    stolen.set("state", new URL(other.url).searchParams.get("state") ?? "");
    expect(await refusalsOf(stolen, other.cookie)).toEqual(["OIDC_REFUSED", "invalid_grant"]);
    // The provider accepts another code for the same login. The service does not.
    const second = await provider.authorize(url, claims("grace@treasury.example"));
    expect(await refusalsOf(second, cookie)).toEqual(["OIDC_REFUSED"]);
  });

  it.each<[string, object]>([
    ["a value without a row", claims("eve@treasury.example", ["guests"])],
    ["no claim", claims("eve@treasury.example", "", { groups: undefined })],
    [
      "an address that was not verified",
      claims("eve@treasury.example", "treasury", { email_verified: false }),
    ],
    ["no address", claims("", "treasury")],
    ["an address with a character that nobody sees", claims("eve@treasury.example\u202e")],
    ["an address with the Kelvin sign", claims("eve@trea\u212aury.example")],
  ])("is refused with %s, and creates nobody", async (_name, given) => {
    expect((await logIn(given)).code).toBe("OIDC_NO_ROLE");
    const people = await service.call("GET", "/v1/people", await service.token(owner));
    expect(await people.text()).not.toContain("eve@");
  });

  it("finds a person by the address, in which only the case of ASCII letters does not count", async () => {
    const known = await logIn(claims("kim@treasury.example"));
    const idOf = ({ body }: { body: Record<string, unknown> }) => (body["person"] as { id: string }).id;
    expect(idOf(await logIn(claims("KIM@Treasury.example")))).toBe(idOf(known));
    const dotted = await logIn(claims("k\u0130m@treasury.example"));
    expect(idOf(dotted)).not.toBe(idOf(known));
  });

  it("keeps the stored address of a known account, if the provider has one now that cannot be shown", async () => {
    const sub = { sub: "nfkc" };
    const unusual = "iris\u2024m@treasury.example";
    expect((await logIn(claims(unusual, ["treasury"], sub))).code).toBe("OIDC_NO_ROLE");
    const first = await logIn(claims("iris@treasury.example", ["treasury"], sub));
    const again = await logIn(claims(unusual, "audit", sub));
    const { id } = first.body["person"] as { id: string };
    const kept = { id, email: "iris@treasury.example", role: "auditor" };
    expect([again.status, again.body["person"]]).toMatchObject([201, kept]);
    const unverified = claims("iris@treasury.example", ["treasury"], { ...sub, email_verified: false });
    expect((await logIn(unverified)).code).toBe("OIDC_NO_ROLE");
  });

  it("ends with a recovery of the person, and so do its tokens", async () => {
    const { cookie, body } = await logIn(claims("lost@treasury.example"));
    const token = await tokenOf(service, cookie);
    expect((await service.call("GET", "/v1/me", token)).status).toBe(200);
    const { id } = body["person"] as { id: string };
    const recovered = await service.call("POST", `/v1/people/${id}/invitation`, await service.token(owner));
    expect(recovered.status).toBe(201);
    expect((await service.call("GET", "/v1/me", token)).status).toBe(401);
    expect((await callConsole(service, "POST", "/token", undefined, cookieOf(cookie))).code).toBe(
      "SESSION_REQUIRED",
    );
  });

  it("is unavailable if the provider has another issuer than the configured one", async () => {
    const reasons: unknown[] = [];
    const options = {
      ...{ clientId: oidcClient.id, clientSecret: oidcClient.secret, scope: "openid" },
      redirectUri: () => "http://localhost/console/oidc",
      onUnavailable: (error: unknown) => reasons.push(error),
    };
    const beginAt = (issuer: string) => createOidcProvider({ ...options, issuer }, Date.now).begin();
    expect(await beginAt(provider.url)).toMatchObject({ pending: {} });
    // The library compares nothing if it gets the address of the document.
    expect(await beginAt(`${provider.url}/.well-known/openid-configuration`)).toBe("unavailable");
    expect(reasons.map(String)).toEqual([expect.stringContaining("and not")]);
  });

  it("does not concern passkeys while the provider is down", async () => {
    const link = await service.inviteAsOperator(owner, {
      ...{ email: "key@treasury.example", name: "Key", role: "viewer" },
    });
    const { authenticator } = await registerWith(service, link);
    const { url, cookie } = await begin();
    const parameters = await provider.authorize(url, claims("ada@treasury.example"));
    provider.setDown(true);
    try {
      const down = await finish(parameters, cookie);
      expect([down.status, down.code]).toEqual([503, "OIDC_UNAVAILABLE"]);
      expect((await logInWith(service, authenticator)).status).toBe(201);
    } finally {
      provider.setDown(false);
    }
  });
});
