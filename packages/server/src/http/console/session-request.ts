import type { FastifyReply, FastifyRequest } from "fastify";
import { consoleAddressOf } from "../../app/people/console-address.js";
import type { Caller } from "../../app/people/session-service.js";
import { Refusal } from "../refusal.js";

/** The prefix makes browsers insist on Secure, Path=/ and this host alone: no other host can plant a session. */
const cookieName = "__Host-bursar-session";
const attributes = "Path=/; Secure; HttpOnly; SameSite=Strict";

/** Only pages of the service itself may use sessions. Without `Origin`, nothing says which page has asked. */
export function callerOf(request: FastifyRequest, publicUrl: string): Caller {
  const { origin } = request.headers;
  if (origin === undefined || !consoleAddressOf(publicUrl).origins.includes(origin))
    throw new Refusal("ORIGIN_REFUSED");
  return { requestId: request.id, address: request.ip };
}

/** The value of the session's cookie; undefined if there is none, or more than one. */
export function readCookie({ headers }: FastifyRequest, name = cookieName): string | undefined {
  const values = (headers.cookie ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

export function setCookie(reply: FastifyReply, value: string): void {
  reply.header("set-cookie", `${cookieName}=${value}; ${attributes}`).header("cache-control", "no-store");
}

/** What a login with an OpenID provider remembers in this browser, for 10 minutes. */
const providerCookieName = "__Host-bursar-oidc";

export function setProviderCookie(reply: FastifyReply, value: string): void {
  reply
    .header("set-cookie", `${providerCookieName}=${value}; Max-Age=600; ${attributes}`)
    .header("cache-control", "no-store");
}

export function readProviderCookie(request: FastifyRequest): string | undefined {
  return readCookie(request, providerCookieName);
}

export function clearCookie(reply: FastifyReply): void {
  reply.header("set-cookie", `${cookieName}=; Max-Age=0; ${attributes}`);
}
