import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** What is wrong with the ID token that the provider issues. */
export interface OidcFaults {
  nonce?: string;
  audience?: string;
  issuer?: string;
  isUnsigned?: boolean;
}

export const oidcClient = { id: "bursar", secret: "the provider's secret" };

/**
 * An OpenID provider in this process, over HTTP: discovery, keys, authorization codes that are used once, PKCE and client authentication
 * as the specifications have them, and ID tokens with every fault that a test asks for.
 */
export async function startOidcProvider() {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const { privateKey: otherKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256", use: "sig" };
  const codes = new Map<string, { asked: URLSearchParams; claims: object; faults: OidcFaults }>();
  let isDown = false;

  const idTokenOf = async (code: string, verifier: string) => {
    const found = codes.get(code);
    codes.delete(code);
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    if (found === undefined || found.asked.get("code_challenge") !== challenge) return undefined;
    const { asked, claims, faults } = found;
    return await new SignJWT({ nonce: faults.nonce ?? asked.get("nonce") ?? "", ...claims })
      .setProtectedHeader({ alg: "ES256", kid: "one" })
      .setIssuer(faults.issuer ?? url)
      .setAudience(faults.audience ?? oidcClient.id)
      .setSubject("somebody")
      .setIssuedAt()
      .setExpirationTime("5 minutes")
      .sign(faults.isUnsigned === true ? otherKey : privateKey);
  };
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (isDown) return request.socket.destroy();
    if (request.url === "/.well-known/openid-configuration")
      return answer(200, {
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/keys`,
        id_token_signing_alg_values_supported: ["ES256"],
        authorization_response_iss_parameter_supported: true,
      });
    if (request.url === "/keys") return answer(200, { keys: [jwk] });
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const form = new URLSearchParams(body);
    const [id, secret] = Buffer.from((request.headers.authorization ?? "").slice(6), "base64")
      .toString()
      .split(":")
      .map((part) => decodeURIComponent(part.replaceAll("+", " ")));
    if (id !== oidcClient.id || secret !== oidcClient.secret) return answer(401, { error: "invalid_client" });
    const idToken = await idTokenOf(form.get("code") ?? "", form.get("code_verifier") ?? "");
    if (idToken === undefined) return answer(400, { error: "invalid_grant" });
    return answer(200, {
      access_token: randomUUID(),
      token_type: "Bearer",
      expires_in: 60,
      id_token: idToken,
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    /** What the browser comes back with when somebody has logged in at the provider. */
    authorize: (authorizationUrl: string, claims: object, faults: OidcFaults = {}): URLSearchParams => {
      const asked = new URL(authorizationUrl).searchParams;
      const code = randomUUID();
      codes.set(code, { asked, claims, faults });
      return new URLSearchParams({ code, state: asked.get("state") ?? "", iss: url });
    },
    setDown: (down: boolean) => {
      isDown = down;
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
