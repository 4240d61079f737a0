import type { Configuration } from "openid-client";
import type { OidcProvider, PendingLogin } from "../app/people/oidc-login.js";
import { createBoundedFetch } from "./bounded-fetch.js";

export interface OidcOptions {
  issuer: string;
  clientId: string;
  clientSecret: string;
  scope: string;
  redirectUri: () => string;
  /** Why the provider could not be used. */
  onUnavailable: (error: unknown) => void;
}

/** Loaded when the first person comes this way. */
const load = () => import("openid-client");

const timeoutSeconds = 5;
/** How long the provider's description of itself is used. Its keys are read again when an unknown one is used. */
const metadataMs = 600_000;

/**
 * The code flow of OpenID Connect with PKCE. The library verifies state, issuer, audience, nonce, times and signature; whatever is wrong is
 * `refused`. The provider is asked when somebody logs in with it, and not when the service starts, so that the service does not depend on it.
 */
export function createOidcProvider(options: OidcOptions, now: () => number): OidcProvider {
  const { clientId, clientSecret, scope } = options;
  const issuer = new URL(options.issuer);
  const boundedFetch = createBoundedFetch();
  // The library exchanges the code with this URI as `URL` writes it, and the provider compares it with the one that was asked for.
  const redirectUri = () => new URL(options.redirectUri());
  let known: { provider: Configuration; untilMs: number } | undefined;

  const discover = async (): Promise<Configuration> => {
    if (known !== undefined && now() < known.untilMs) return known.provider;
    const { allowInsecureRequests, ClientSecretBasic, customFetch, discovery, enableNonRepudiationChecks } =
      await load();
    const provider = await discovery(issuer, clientId, undefined, ClientSecretBasic(clientSecret), {
      timeout: timeoutSeconds,
      // Also for the provider's keys and tokens.
      [customFetch]: boundedFetch,
      // Without the first, the library trusts TLS and verifies no signature. Plain HTTP only on this machine, for development.
      execute: [enableNonRepudiationChecks, ...(isLoopback(issuer) ? [allowInsecureRequests] : [])],
    });
    // For two providers, the library accepts an issuer for all of their customers: each of these could give any claim.
    if (new URL(provider.serverMetadata().issuer).href !== issuer.href)
      throw new Error(`The provider is ${provider.serverMetadata().issuer}, and not ${issuer.href}.`);
    known = { provider, untilMs: now() + metadataMs };
    return provider;
  };

  return {
    begin: async () => {
      const oidc = await load();
      const pending: PendingLogin = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      try {
        const url = oidc.buildAuthorizationUrl(await discover(), {
          ...{ redirect_uri: redirectUri().href, scope, state: pending.state, nonce: pending.nonce },
          code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
          code_challenge_method: "S256",
        });
        return { url: url.href, pending };
      } catch (error) {
        options.onUnavailable(error);
        return "unavailable";
      }
    },
    finish: async (parameters, { state, nonce, verifier }) => {
      const { authorizationCodeGrant } = await load();
      let provider: Configuration;
      try {
        provider = await discover();
      } catch (error) {
        options.onUnavailable(error);
        return "unavailable";
      }
      const answer = redirectUri();
      answer.search = parameters;
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
      try {
        const tokens = await authorizationCodeGrant(provider, answer, { ...checks, idTokenExpected: true });
        return tokens.claims() ?? "refused";
      } catch (error) {
        if (!isUnavailable(error)) return "refused";
        options.onUnavailable(error);
        return "unavailable";
      }
    },
  };
}

function isLoopback({ hostname }: URL): boolean {
  return ["localhost", "127.0.0.1"].includes(hostname);
}

/** What `fetch` throws when nobody answers, and what the library makes of a timeout. */
function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error) return error.code === "OAUTH_TIMEOUT" || error.code === "OAUTH_ABORT";
  return error.name === "TypeError" && error.message === "fetch failed";
}
