import type { webcrypto } from "node:crypto";
import * as oauth from "oauth4webapi";
import { beforeAll, describe, expect, it } from "vitest";
import { sharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await sharedService();

/** A public OAuth library, which discovers the endpoints from the address alone. */
describe("a third-party OAuth client", () => {
  let owner: TestClient;
  let server: oauth.AuthorizationServer;
  let client: oauth.Client;
  const insecure = { [oauth.allowInsecureRequests]: true };

  beforeAll(async () => {
    owner = await service.createTenant();
    const issuer = new URL(service.url);
    const discovered = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure });
    server = await oauth.processDiscoveryResponse(issuer, discovered);
    client = { client_id: owner.clientId };
  });

  const getToken = async (auth: oauth.ClientAuth, scope?: string) => {
    const parameters = new URLSearchParams(scope === undefined ? {} : { scope });
    const response = await oauth.clientCredentialsGrantRequest(server, client, auth, parameters, insecure);
    return await oauth.processClientCredentialsResponse(server, client, response);
  };

  const registerKey = async () => {
    const pair = (await crypto.subtle.generateKey("Ed25519", true, [
      "sign",
      "verify",
    ])) as webcrypto.CryptoKeyPair;
    const { x } = await crypto.subtle.exportKey("jwk", pair.publicKey);
    const body = { algorithm: "ed25519", public_key: x };
    const added = await service.call(
      "POST",
      `/v1/clients/${owner.clientId}/keys`,
      await service.token(owner),
      body,
    );
    expect(added.status).toBe(201);
    return { key: pair.privateKey, kid: ((await added.json()) as { key: { id: string } }).key.id };
  };

  it("gets a token with HTTP Basic, with form fields and with a signed assertion, and each one works", async () => {
    const ways = [
      oauth.ClientSecretBasic(owner.secret),
      oauth.ClientSecretPost(owner.secret),
      oauth.PrivateKeyJwt(await registerKey()),
    ];
    for (const way of ways) {
      const token = await getToken(way, "clients:manage");
      expect(token).toMatchObject({ token_type: "bearer", expires_in: 900, scope: "clients:manage" });
      expect((await service.call("GET", "/v1/clients", token.access_token)).status).toBe(200);
      expect((await service.call("GET", "/v1/audit", token.access_token)).status).toBe(403);
    }
  });

  it("verifies the token with the published keys, as a resource server would", async () => {
    const { access_token } = await getToken(oauth.ClientSecretBasic(owner.secret));
    const request = new Request(`${service.url}/v1/clients`, {
      headers: { authorization: `Bearer ${access_token}` },
    });
    const claims = await oauth.validateJwtAccessToken(server, request, service.url, {
      ...insecure,
      signingAlgorithms: ["EdDSA"],
    });
    expect(claims).toMatchObject({ client_id: owner.clientId, sub: owner.clientId, iss: service.url });
  });

  it("introspects and revokes", async () => {
    const auth = oauth.ClientSecretBasic(owner.secret);
    const { access_token } = await getToken(auth);
    const introspect = async () =>
      await oauth.processIntrospectionResponse(
        server,
        client,
        await oauth.introspectionRequest(server, client, auth, access_token, insecure),
      );
    expect(await introspect()).toMatchObject({
      active: true,
      client_id: owner.clientId,
      iss: service.url,
      aud: service.url,
    });
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, auth, access_token, insecure),
    );
    expect(await introspect()).toEqual({ active: false });
    const refused = await service.call("GET", "/v1/clients", access_token);
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: { code: "TOKEN_REVOKED" } }]);
  });

  it("gets OAuth error codes", async () => {
    await expect(getToken(oauth.ClientSecretBasic("bsk_wrong"))).rejects.toMatchObject({
      status: 401,
      code: "OAUTH_WWW_AUTHENTICATE_CHALLENGE",
    });
    await expect(getToken(oauth.ClientSecretPost(owner.secret), "everything")).rejects.toMatchObject({
      error: "invalid_scope",
    });
  });
});
