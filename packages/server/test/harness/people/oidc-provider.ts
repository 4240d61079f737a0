import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, decodeJwt, exportJWK, generateKeyPair, SignJWT } from "jose";
import { type Configuration, Provider } from "oidc-provider";

/** What is wrong with the ID token that the service receives. */
export interface OidcFaults {
  /** Claims that replace those of the provider. A second key of the provider signs the result. */
  claims?: Readonly<Record<string, unknown>>;
  /** A key that the provider does not publish signs the ID token. */
  isForged?: boolean;
}

export const oidcClient = { id: "bursar", secret: "the provider's secret" };

const scopes = "openid email profile";
const lifetimeSeconds = 300;

/**
 * `oidc-provider` in this process, over HTTP. The library does everything that a provider does: discovery, keys, authorization, codes,
 * PKCE and client authentication. Only an ID token for which a test asks for a fault is changed, on its way to the service.
 */
export async function startOidcProvider() {
  const users = new Map<string, { claims: object; faults: OidcFaults | undefined }>();
  const keys = {
    own: await createKey("own"),
    second: await createKey("second"),
    unknown: await createKey("own"),
  };
  let isDown = false;
  let handle: (request: IncomingMessage, response: ServerResponse) => unknown = () => undefined;
  const server = createServer((request, response) =>
    isDown ? request.socket.destroy() : handle(request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const provider = new Provider(url, {
    ...configuration,
    jwks: { keys: [keys.own.jwk, keys.second.jwk] },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, ...users.get(id)?.claims }),
    }),
  });
  const refusals: string[] = [];
  provider.on("grant.error", (_ctx, error) => refusals.push(error.error));
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path !== "/token" || ctx.status !== 200) return;
    const answer = ctx.body as { id_token: string };
    const claims = decodeJwt(answer.id_token);
    const faults = users.get(claims.sub ?? "")?.faults;
    if (faults === undefined) return;
    const { kid, privateKey } = faults.isForged === true ? keys.unknown : keys.second;
    ctx.body = { ...answer, id_token: await sign({ ...claims, ...faults.claims }, kid, privateKey) };
  });
  const respond = provider.callback();
  handle = async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", url);
    if (!pathname.startsWith("/interaction/")) return respond(request, response);
    await logIn(provider, request, response, searchParams.get("user") ?? "");
  };

  return {
    url,
    /** The errors with which the provider has refused codes. */
    refusals,
    /** Logs somebody with these claims in at the provider, as a browser would; returns the query that the browser comes back with. */
    authorize: async (authorizationUrl: string, claims: object, faults?: OidcFaults) => {
      const user = accountOf(claims);
      users.set(user, { claims, faults });
      return await browse(authorizationUrl, url, user);
    },
    setDown: (down: boolean) => {
      isDown = down;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The account that somebody has at the provider: the claim `sub`, or one for each address. */
function accountOf({ sub, email }: { sub?: string; email?: unknown }): string {
  const folded = String(email).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return sub ?? `of-${encodeURIComponent(folded)}`;
}

const configuration: Configuration = {
  clients: [
    {
      client_id: oidcClient.id,
      client_secret: oidcClient.secret,
      // The service's port is not known yet: native clients may have any port on loopback.
      application_type: "native",
      redirect_uris: ["http://localhost/console/oidc"],
      response_types: ["code"],
      grant_types: ["authorization_code"],
      token_endpoint_auth_method: "client_secret_basic",
      id_token_signed_response_alg: "ES256",
    },
  ],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
  // The claims are in the ID token, and not only at the user info endpoint.
  conformIdTokenClaims: false,
  cookies: { keys: ["a key for the cookies of a test"] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
  ttl: {
    ...{ AccessToken: lifetimeSeconds, AuthorizationCode: lifetimeSeconds, Grant: lifetimeSeconds },
    ...{ IdToken: lifetimeSeconds, Interaction: lifetimeSeconds, Session: lifetimeSeconds },
  },
};

async function createKey(kid: string) {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  return { kid, privateKey, jwk: { ...(await exportJWK(privateKey)), kid, alg: "ES256", use: "sig" } };
}

function sign(claims: Record<string, unknown>, kid: string, key: CryptoKey): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid }).sign(key);
}

/** The login page of the provider, which believes what it is given, and grants the client what it has asked for. */
async function logIn(provider: Provider, request: IncomingMessage, response: ServerResponse, user: string) {
  const grant = new provider.Grant({ accountId: user, clientId: oidcClient.id });
  grant.addOIDCScope(scopes);
  const result = { login: { accountId: user }, consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, result);
}

/** Follows redirects with the cookies of the provider, until one leads elsewhere. */
async function browse(from: string, providerUrl: string, user: string): Promise<URLSearchParams> {
  const cookies = new Map<string, string>();
  let at = new URL(from);
  for (let step = 0; at.href.startsWith(providerUrl) && step < 10; step += 1) {
    if (at.pathname.startsWith("/interaction/")) at.searchParams.set("user", user);
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const response = await fetch(at, { redirect: "manual", headers: { cookie } });
    for (const header of response.headers.getSetCookie()) {
      const [name = "", value = ""] = header.split(";", 1)[0]?.split(/=(.*)/s) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null)
      throw new Error(`The provider answered ${response.status}: ${await response.text()}`);
    at = new URL(location, at);
  }
  return at.searchParams;
}
