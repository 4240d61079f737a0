import { randomUUID } from "node:crypto";
import type { Has, PlainAnswer, PlainRequest } from "./plain-server.js";

export const plainClient = { clientId: "cli_plain", clientSecret: "plain-client-secret-0005" };

/** The client credentials grant; undefined for other paths. */
export function answerOauth(
  { method, path, headers, body }: PlainRequest,
  has: Has,
): PlainAnswer | undefined {
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
  return {
    status: 200,
    headers: has("token-cacheable") ? {} : { "cache-control": "no-store" },
    body: {
      access_token: randomUUID(),
      expires_in: 900,
      ...(has("token-without-type") ? {} : { token_type: "Bearer" }),
    },
  };
}
