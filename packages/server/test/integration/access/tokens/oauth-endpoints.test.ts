import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedService } from "../../../harness/service/shared-service.js";
import {
  startTestService,
  type TestClient,
  type TestService,
} from "../../../harness/service/test-service.js";

const service = await sharedService();

describe("the OAuth endpoints", () => {
  let owner: TestClient;
  beforeAll(async () => {
    owner = await service.createTenant();
  });

  const post = async (
    path: string,
    form: Record<string, string> | string,
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(service.url + path, {
      method: "POST",
      headers,
      body: new URLSearchParams(form),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, unknown>,
    };
  };
  const secretForm = () => ({
    grant_type: "client_credentials",
    client_id: owner.clientId,
    client_secret: owner.secret,
  });
  const basic = (id: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
  });

  it("sends responses that must not be cached", async () => {
    const { status, headers, body } = await post("/oauth/token", secretForm());
    expect([status, body["token_type"], body["expires_in"]]).toEqual([200, "Bearer", 900]);
    expect([headers.get("cache-control"), headers.get("pragma")]).toEqual(["no-store", "no-cache"]);
  });

  it.each<
    [
      what: string,
      form: () => Record<string, string> | string,
      headers: () => Record<string, string>,
      status: number,
      error: string,
    ]
  >([
    ["no grant", () => ({ client_id: "x" }), () => ({}), 400, "invalid_request"],
    [
      "another grant",
      () => ({ ...secretForm(), grant_type: "password" }),
      () => ({}),
      400,
      "unsupported_grant_type",
    ],
    ["no client", () => ({ grant_type: "client_credentials" }), () => ({}), 401, "invalid_client"],
    [
      "a wrong secret",
      () => ({ ...secretForm(), client_secret: "bsk_x" }),
      () => ({}),
      401,
      "invalid_client",
    ],
    [
      "an unknown client",
      () => ({ ...secretForm(), client_id: "cli_01h455vb4pex5vsknk084sn02q" }),
      () => ({}),
      401,
      "invalid_client",
    ],
    [
      "a malformed client id",
      () => ({ ...secretForm(), client_id: "'; DROP TABLE clients" }),
      () => ({}),
      401,
      "invalid_client",
    ],
    [
      "two authentication methods",
      secretForm,
      () => basic(owner.clientId, owner.secret),
      400,
      "invalid_request",
    ],
    [
      "malformed Basic credentials",
      () => ({ grant_type: "client_credentials" }),
      () => ({ authorization: "Basic !" }),
      401,
      "invalid_client",
    ],
    [
      "two clients",
      () => ({ grant_type: "client_credentials", client_id: "other" }),
      () => basic(owner.clientId, owner.secret),
      400,
      "invalid_request",
    ],
    [
      "a repeated parameter",
      () => `grant_type=client_credentials&grant_type=x`,
      () => ({}),
      400,
      "invalid_request",
    ],
    ["an unknown scope", () => ({ ...secretForm(), scope: "everything" }), () => ({}), 400, "invalid_scope"],
    [
      "an assertion of another kind",
      () => ({ grant_type: "client_credentials", client_assertion: "a.b.c", client_assertion_type: "saml" }),
      () => ({}),
      400,
      "invalid_request",
    ],
  ])("refuses %s", async (_what, form, headers, status, error) => {
    const answer = await post("/oauth/token", form(), headers());
    expect([answer.status, answer.body["error"]]).toEqual([status, error]);
    expect(typeof answer.body["error_description"]).toBe("string");
    if (status === 401) expect(answer.headers.get("www-authenticate")).toBe('Basic realm="bursar"');
  });

  it("accepts forms only, and answers others with an OAuth error", async () => {
    const response = await service.call("POST", "/oauth/token", undefined, {});
    expect([response.status, await response.json()]).toMatchObject([415, { error: "invalid_request" }]);
  });

  it("does not allow a client to revoke another client's token", async () => {
    const other = await service.createTenant();
    const token = await service.token(owner);
    const answer = await post("/oauth/revoke", { token }, basic(other.clientId, other.secret));
    expect([answer.status, answer.body["error"]]).toEqual([400, "unauthorized_client"]);
    expect((await service.call("GET", "/v1/clients", token)).status).toBe(200);
    const introspected = await post("/oauth/introspect", { token }, basic(other.clientId, other.secret));
    expect(introspected.body).toEqual({ active: false });
  });

  it("accepts the revocation of an invalid token", async () => {
    expect(
      await post("/oauth/revoke", { token: "nonsense" }, basic(owner.clientId, owner.secret)),
    ).toMatchObject({ status: 200, body: {} });
  });

  it("slows down an address that keeps failing, but no other", async () => {
    const victim = await service.createTenant();
    const attempt = (secret: string) =>
      post("/oauth/token", { grant_type: "client_credentials" }, basic(victim.clientId, secret));
    for (let count = 0; count < 5; count++) expect((await attempt("bsk_wrong")).status).toBe(401);
    const slowed = await attempt("bsk_wrong");
    expect([slowed.status, slowed.body["error"]]).toEqual([429, "slow_down"]);
    expect(Number(slowed.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await post("/oauth/token", secretForm())).status).toBe(200);
  });
});

it("a client gets all of its tokens while its neighbours on the same address fail all the time", async () => {
  const own = await startTestService({ "quotas.address_per_second": "1", "quotas.address_burst": "5" });
  const form = { grant_type: "client_credentials" };
  const ask = (clientId: string, secret: string) =>
    fetch(`${own.url}/oauth/token`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}` },
      body: new URLSearchParams(form),
    });
  const [neighbour, client] = [await own.createTenant(), await own.createTenant()];
  const failures: number[] = [];
  const tokens: string[] = [];
  for (let count = 0; count < 48; count++) {
    const [failed, , issued] = await Promise.all([
      ask(neighbour.clientId, "bsk_wrong"),
      ask(client.clientId, "bsk_wrong"),
      ask(client.clientId, client.secret),
    ]);
    failures.push(failed.status);
    expect(issued.status).toBe(200);
    tokens.push(((await issued.json()) as { access_token: string }).access_token);
  }
  // The failures are slowed down, and each new token can be used although its address has sent many invalid ones.
  expect(failures).toContain(429);
  for (let count = 0; count < 10; count++) await own.call("GET", "/v1/wallets", `wrong-${count}`);
  for (const token of tokens.slice(-5))
    expect((await own.call("GET", "/v1/wallets", token)).status).toBe(200);
  await own.stop();
});

describe("client assertions", () => {
  // Failures count by address too, and the tests of the shared service have the same one.
  let own: TestService;
  let owner: TestClient;
  let keys: { privateKey: KeyObject; kid: string };
  beforeAll(async () => {
    own = await startTestService();
    owner = await own.createTenant();
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const body = { algorithm: "ed25519", public_key: publicKey.export({ format: "jwk" }).x };
    const added = await own.call("POST", `/v1/clients/${owner.clientId}/keys`, await own.token(owner), body);
    keys = { privateKey, kid: ((await added.json()) as { key: { id: string } }).key.id };
  });

  afterAll(() => own.stop());

  const assertion = (
    claims: Record<string, unknown> = {},
    header: Record<string, unknown> = {},
    key = keys.privateKey,
  ) =>
    new SignJWT({
      iss: owner.clientId,
      sub: owner.clientId,
      aud: own.url,
      jti: Math.random().toString(36),
      exp: Math.floor(Date.now() / 1000) + 60,
      ...claims,
    })
      .setProtectedHeader({ alg: "EdDSA", kid: keys.kid, ...header })
      .sign(key);
  const present = async (jwt: string) => {
    const form = {
      grant_type: "client_credentials",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: jwt,
    };
    const response = await fetch(`${own.url}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams(form),
    });
    return { status: response.status, body: await response.json() };
  };

  it("are accepted once", async () => {
    const jwt = await assertion();
    expect((await present(jwt)).status).toBe(200);
    expect((await present(jwt)).status).toBe(401);
  });

  it("do not require a key id", async () => {
    expect((await present(await assertion({}, { kid: undefined }))).status).toBe(200);
  });

  it.each<[what: string, make: () => Promise<string> | string]>([
    ["of another audience", () => assertion({ aud: "https://elsewhere.example" })],
    ["for the endpoint instead of the issuer", () => assertion({ aud: `${own.url}/oauth/token` })],
    ["for several audiences", () => assertion({ aud: [own.url, "https://elsewhere.example"] })],
    ["that have expired", () => assertion({ exp: Math.floor(Date.now() / 1000) - 60 })],
    ["with too long a lifetime", () => assertion({ exp: Math.floor(Date.now() / 1000) + 3600 })],
    ["without an id", () => assertion({ jti: undefined })],
    ["of another issuer", () => assertion({ iss: "cli_01h455vb4pex5vsknk084sn02q" })],
    ["of another subject", () => assertion({ sub: "cli_01h455vb4pex5vsknk084sn02q" })],
    ["of a key that is not registered", () => assertion({}, {}, generateKeyPairSync("ed25519").privateKey)],
    ["that are not a JWT", () => "a.b.c"],
  ])("are refused %s", async (_what, make) => {
    expect(await present(await make())).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    // A success resets the count of failures, so that the throttle does not interfere.
    expect((await present(await assertion())).status).toBe(200);
  });
});
