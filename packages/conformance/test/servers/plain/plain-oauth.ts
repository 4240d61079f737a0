import { randomUUID } from "node:crypto";
import type { Has, PlainAnswer, PlainRequest } from "./plain-server.js";

export const plainClient = { clientId: "cli_plain", clientSecret: "plain-client-secret-0005" };

const lifetimeSeconds = 1;

/** The client credentials grant. */
export function createPlainOauth(has: Has) {
  const expiries = new Map<string, number>();
  return {
    /** Undefined for other paths. */
    answer,
    /** Whether an issued token is valid; undefined if it was not issued. */
    isValid: (token: string): boolean | undefined => {
      const expiry = expiries.get(token);
      return expiry === undefined ? undefined : Date.now() < expiry || has("expired-token-accepted");
    },
  };

  function answer({ method, path, headers, body }: PlainRequest): PlainAnswer | undefined {
    if (path === "/.well-known/oauth-authorization-server" && !has("no-oauth-metadata")) {
      const issuer = `http://${headers.host}`;
      return { status: 200, body: { issuer, token_endpoint: `${issuer}/oauth/token` } };
    }
    if (path !== "/oauth/token" || method !== "POST") return undefined;
    const { clientId, clientSecret } = plainClient;
    const expected = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
    if (headers.authorization !== expected && !has("wrong-secret-accepted"))
      return { status: 401, body: { error: "invalid_client" } };
    const grant = new URLSearchParams(body).get("grant_type");
    if (grant !== "client_credentials" && !has("any-grant-accepted"))
      return { status: 400, body: { error: "unsupported_grant_type" } };
    const token = randomUUID();
    expiries.set(token, Date.now() + lifetimeSeconds * 1000);
    return {
      status: 200,
      headers: has("token-cacheable") ? {} : { "cache-control": "no-store" },
      body: {
        access_token: token,
        expires_in: lifetimeSeconds,
        ...(has("token-without-type") ? {} : { token_type: "Bearer" }),
      },
    };
  }
}

export type PlainOauth = ReturnType<typeof createPlainOauth>;
