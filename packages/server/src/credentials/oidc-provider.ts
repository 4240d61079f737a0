import type { AuthorizationServer, Client } from "oauth4webapi";
import type { OidcProvider, PendingLogin } from "../app/people/oidc-login.js";

export interface OidcOptions {
  issuer: string;
  clientId: string;
  clientSecret: string;
  scope: string;
  redirectUri: () => string;
}

/** Loaded when the first person comes this way. */
const load = () => import("oauth4webapi");

const timeoutMs = 5000;
/** How long the provider's description of itself is used. Its keys are read again when an unknown one is used. */
const metadataMs = 600_000;

/**
 * The code flow of OpenID Connect with PKCE. The library verifies state, issuer, audience, nonce, times and signature; whatever is wrong is
 * `refused`. The provider is asked when somebody logs in with it, and not when the service starts, so that the service does not depend on it.
 */
export function createOidcProvider(options: OidcOptions, now: () => number): OidcProvider {
  const { issuer, clientId, clientSecret, scope, redirectUri } = options;
  const client: Client = { client_id: clientId };
  // Over plain HTTP only on this machine, for development.
  const isInsecure = ["localhost", "127.0.0.1"].includes(new URL(issuer).hostname);
  let known: { server: AuthorizationServer; untilMs: number } | undefined;

  const http = async () => {
    const { allowInsecureRequests } = await load();
    return { signal: AbortSignal.timeout(timeoutMs), [allowInsecureRequests]: isInsecure };
  };
  const discover = async (): Promise<AuthorizationServer> => {
    if (known !== undefined && now() < known.untilMs) return known.server;
    const { discoveryRequest, processDiscoveryResponse } = await load();
    const url = new URL(issuer);
    const server = await processDiscoveryResponse(url, await discoveryRequest(url, await http()));
    known = { server, untilMs: now() + metadataMs };
    return server;
  };

  return {
    begin: async () => {
      const oauth = await load();
      const pending: PendingLogin = {
        state: oauth.generateRandomState(),
        nonce: oauth.generateRandomNonce(),
        verifier: oauth.generateRandomCodeVerifier(),
      };
      try {
        const { authorization_endpoint } = await discover();
        const url = new URL(authorization_endpoint ?? "");
        const challenge = await oauth.calculatePKCECodeChallenge(pending.verifier);
        for (const [name, value] of Object.entries({
          ...{ client_id: clientId, redirect_uri: redirectUri(), response_type: "code", scope },
          ...{ code_challenge: challenge, code_challenge_method: "S256" },
          ...{ state: pending.state, nonce: pending.nonce },
        }))
          url.searchParams.set(name, value);
        return { url: url.href, pending };
      } catch {
        return "unavailable";
      }
    },
    finish: async (parameters, { state, nonce, verifier }) => {
      const oauth = await load();
      let server: AuthorizationServer;
      try {
        server = await discover();
      } catch {
        return "unavailable";
      }
      try {
        const given = oauth.validateAuthResponse(server, client, new URLSearchParams(parameters), state);
        const proof = oauth.ClientSecretBasic(clientSecret);
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          proof,
          given,
          redirectUri(),
          verifier,
          await http(),
        );
        const expected = { expectedNonce: nonce, requireIdToken: true };
        const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, expected);
        await oauth.validateApplicationLevelSignature(server, response, await http());
        return oauth.getValidatedIdTokenClaims(tokens) ?? "refused";
      } catch (error) {
        return isUnavailable(error) ? "unavailable" : "refused";
      }
    },
  };
}

/** What `fetch` throws when nobody answers, or not in time. */
function isUnavailable(error: unknown): boolean {
  const { name = "", message = "" } = error instanceof Error ? error : {};
  return (
    name === "TimeoutError" || name === "AbortError" || (name === "TypeError" && message === "fetch failed")
  );
}
