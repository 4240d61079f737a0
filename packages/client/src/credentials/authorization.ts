import type { OutgoingRequest } from "../transport/exchange.js";
import type { BursarOptions } from "../transport/options.js";
import type { Runtime } from "../transport/runtime.js";
import { clientAssertion } from "./client-assertion.js";
import { checkCredentials, credentialsInvalid, isKey } from "./credentials.js";
import { createPrivateKey } from "./private-key.js";
import { signRequest } from "./sign-request.js";
import { createTokenSource, type IssuedToken } from "./token-source.js";

/** Authenticates requests. The credentials stay in these closures: no object that a caller can print holds them. */
export interface Authorization {
  token: (options: { signal?: AbortSignal | undefined }) => Promise<string>;
  /** Drops a token that the service has refused. */
  refuse: (token: string) => void;
  sign: (request: OutgoingRequest) => Promise<OutgoingRequest>;
  clientAuthentication: () => Promise<Record<string, string>>;
}

interface Surroundings {
  baseUrl: string;
  runtime: Runtime;
  requestToken: (
    form: () => Promise<Record<string, string>>,
    signal: AbortSignal | undefined,
  ) => Promise<{ access_token?: unknown; expires_in?: unknown }>;
}

export function createAuthorization(
  { credentials, scope }: Pick<BursarOptions, "credentials" | "scope">,
  { baseUrl, runtime, requestToken }: Surroundings,
): Authorization {
  checkCredentials(credentials);
  const key = typeof credentials !== "function" && isKey(credentials) ? credentials : undefined;
  const privateKey = key && createPrivateKey(key.privateKey);

  const clientAuthentication: Authorization["clientAuthentication"] = async () => {
    if (typeof credentials === "function")
      throw credentialsInvalid(
        "This call needs the credentials of a client; a function that returns a token is not enough.",
      );
    if (privateKey === undefined || !isKey(credentials))
      return { client_id: credentials.clientId, client_secret: (credentials as { secret: string }).secret };
    return await clientAssertion({ ...credentials, audience: baseUrl, nowMs: runtime.now() }, privateKey);
  };

  const issue = async (): Promise<IssuedToken> => {
    if (typeof credentials === "function") {
      const supplied = await credentials();
      return typeof supplied === "string"
        ? { token: supplied, lifetimeMs: 0 }
        : { token: supplied.token, lifetimeMs: (supplied.expiresInSeconds ?? 0) * 1000 };
    }
    const form = async () => ({
      grant_type: "client_credentials",
      ...(scope === undefined ? {} : { scope }),
      ...(await clientAuthentication()),
    });
    const { access_token, expires_in } = await requestToken(form, undefined);
    return { token: String(access_token ?? ""), lifetimeMs: Number(expires_in ?? 0) * 1000 };
  };

  const tokens = createTokenSource(issue, runtime);
  return {
    token: ({ signal }) => tokens.get(signal),
    refuse: tokens.refuse,
    sign: async (request) =>
      key === undefined || privateKey === undefined || request.headers["authorization"] === undefined
        ? request
        : await signRequest(request, { keyId: key.keyId, sign: privateKey, nowMs: runtime.now() }),
    clientAuthentication,
  };
}
