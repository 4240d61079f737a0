import { urlOf } from "../engine/kit.js";
import { percentEncode } from "../http/percent-encode.js";
import { isObject, parseJson } from "../http/reply.js";
import { type ReceivedResponse, send } from "../http/send.js";
import { UsageFault } from "./read-values.js";
import type { Credentials } from "./target.js";

/**
 * Tokens by the OAuth 2.0 client credentials grant. These requests are not recorded: they carry the secret, and are made before
 * the checks or around them.
 */
const bounds = { bodyBytesMax: 1 << 20, headerBytesMax: 64 << 10 };

export async function obtainToken(
  baseUrl: URL,
  credentials: Credentials,
  timeoutMs: number,
): Promise<string> {
  const { tokenUrl } = await findEndpoints(baseUrl, timeoutMs);
  const response = await post(tokenUrl, credentials, "grant_type=client_credentials", timeoutMs);
  const json = parseJson(response?.body.toString("utf8") ?? "");
  const token = isObject(json) ? json["access_token"] : undefined;
  if (response?.status !== 200 || typeof token !== "string" || token === "")
    throw new UsageFault(
      `${tokenUrl.pathname} did not issue a token for the client ${credentials.clientId}: ${response === undefined ? "no response" : `status ${response.status}`}.`,
    );
  return token;
}

/** Whether the target says that it has revoked the token (RFC 7009). */
export async function revokeToken(
  baseUrl: URL,
  credentials: Credentials,
  token: string,
  timeoutMs: number,
): Promise<boolean> {
  const { revokeUrl } = await findEndpoints(baseUrl, timeoutMs);
  const response = await post(revokeUrl, credentials, `token=${percentEncode(token)}`, timeoutMs);
  return response?.status === 200;
}

/** From the server's metadata (RFC 8414), or under their usual names. Other hosts do not get the secret. */
async function findEndpoints(baseUrl: URL, timeoutMs: number): Promise<{ tokenUrl: URL; revokeUrl: URL }> {
  const url = urlOf(baseUrl, "/.well-known/oauth-authorization-server");
  const { response } = await send({ method: "GET", url, headers: [] }, { timeoutMs, ...bounds });
  const metadata = response?.status === 200 ? parseJson(response.body.toString("utf8")) : undefined;
  const named = (name: string, usual: string) => {
    const value = isObject(metadata) ? metadata[name] : undefined;
    const found = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
    return found?.origin === baseUrl.origin ? found : urlOf(baseUrl, usual);
  };
  return {
    tokenUrl: named("token_endpoint", "/oauth/token"),
    revokeUrl: named("revocation_endpoint", "/oauth/revoke"),
  };
}

async function post(
  url: URL,
  { clientId = "", clientSecret = "" }: Credentials,
  body: string,
  timeoutMs: number,
): Promise<ReceivedResponse | undefined> {
  const basic = Buffer.from(`${percentEncode(clientId)}:${percentEncode(clientSecret)}`).toString("base64");
  const headers = [
    ["Content-Type", "application/x-www-form-urlencoded"],
    ["Authorization", `Basic ${basic}`],
  ] as const;
  return (await send({ method: "POST", url, headers, body }, { timeoutMs, ...bounds })).response;
}
