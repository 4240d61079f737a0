import { expect, NotOffered, profileCheck } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { percentEncode } from "../../http/percent-encode.js";
import { describeReply, isObject, type Reply } from "../../http/reply.js";

const profile = "oauth";
const metadata = "oauth.metadata";
const token = "oauth.token";

const discovered = (kit: Kit) =>
  kit.fixture("OAuth metadata", (own) =>
    own.send("GET", "/.well-known/oauth-authorization-server", { authorization: null }),
  );

/** A request to the token endpoint that the metadata names, if it is at the same origin. */
export async function requestToken(
  kit: Kit,
  grant: string,
  changeSecret: (secret: string) => string,
): Promise<Reply> {
  const { clientId, clientSecret } = kit.target.credentials;
  if (clientId === undefined || clientSecret === undefined)
    throw new NotOffered("The kit was given a token and no client credentials.");
  const { json } = await discovered(kit);
  const named = isObject(json) ? String(json["token_endpoint"]) : "";
  const { origin, pathname } = new URL(
    URL.canParse(named) ? named : `${kit.target.baseUrl.origin}/oauth/token`,
  );
  if (origin !== kit.target.baseUrl.origin) throw new NotOffered("The token endpoint is at another origin.");
  // Paths are appended to the base address, which can have a path of its own.
  const base = kit.target.baseUrl.pathname.replace(/\/$/, "");
  const path = pathname.startsWith(base) ? pathname.slice(base.length) : pathname;
  const secret = changeSecret(clientSecret);
  const basic = Buffer.from(`${percentEncode(clientId)}:${percentEncode(secret)}`).toString("base64");
  kit.session.secrets.set(basic, "$BASIC");
  return kit.send("POST", path, {
    authorization: `Basic ${basic}`,
    headers: [["Content-Type", "application/x-www-form-urlencoded"]],
    body: `grant_type=${grant}`,
  });
}

const issued = (kit: Kit) =>
  kit.fixture("OAuth token", async (own) => {
    const reply = await requestToken(own, "client_credentials", (secret) => secret);
    const text = isObject(reply.json) ? reply.json["access_token"] : undefined;
    if (typeof text === "string") own.session.secrets.set(text, "$OTHER_TOKEN");
    return reply;
  });

function expectError(reply: Reply, status: number, code: string): void {
  const error = isObject(reply.json) ? reply.json["error"] : undefined;
  expect(
    reply.status === status && error === code,
    `status ${status} with the error ${code}`,
    describeReply(reply),
  );
}

/** Tokens by the client credentials grant. */
export const oauthChecks = [
  profileCheck(
    metadata,
    profile,
    "RFC 8414, section 3",
    "The metadata names the issuer and the token endpoint.",
    {},
    async (kit) => {
      const reply = await discovered(kit);
      const { issuer, token_endpoint: endpoint } = isObject(reply.json) ? reply.json : {};
      const isComplete = typeof issuer === "string" && typeof endpoint === "string" && URL.canParse(endpoint);
      expect(
        reply.status === 200 && isComplete,
        "issuer and token_endpoint in /.well-known/oauth-authorization-server",
        describeReply(reply),
      );
    },
  ),
  profileCheck(
    token,
    profile,
    "RFC 6749, section 5.1",
    "A token response has access_token and token_type.",
    { needs: [metadata], writes: ["token"] },
    async (kit) => {
      const { status, json } = await issued(kit);
      const { access_token: access, token_type: type } = isObject(json) ? json : {};
      const isComplete = typeof access === "string" && /^bearer$/i.test(String(type));
      const seen = `status ${status} with the members ${Object.keys(isObject(json) ? json : {}).join(", ")}`;
      expect(status === 200 && isComplete, "status 200 with access_token and the token_type Bearer", seen);
    },
  ),
  profileCheck(
    "oauth.no-store",
    profile,
    "RFC 6749, section 5.1",
    "A token response is not stored by caches.",
    { needs: [token], writes: ["token"] },
    async (kit) => {
      const cache = (await issued(kit)).header("cache-control") ?? "none";
      expect(/\bno-store\b/i.test(cache), "Cache-Control: no-store", cache);
    },
  ),
  profileCheck(
    "oauth.wrong-secret",
    profile,
    "RFC 6749, section 5.2",
    "A wrong secret is answered with 401 invalid_client.",
    { needs: [token], writes: ["token"] },
    async (kit) => {
      const reply = await requestToken(kit, "client_credentials", (secret) => `${secret.slice(0, -4)}zzzz`);
      expectError(reply, 401, "invalid_client");
    },
  ),
  profileCheck(
    "oauth.grant-type",
    profile,
    "RFC 6749, section 5.2",
    "An unknown grant type is answered with 400 unsupported_grant_type.",
    { needs: [token], writes: ["token"] },
    async (kit) => {
      expectError(await requestToken(kit, "conformance", (secret) => secret), 400, "unsupported_grant_type");
    },
  ),
];
