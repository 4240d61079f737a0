import { createHash } from "node:crypto";
import type { BlackBoxService } from "../service/test-service.js";
import { type Authenticator, createAuthenticator, type Faults, passkeyHeader } from "./authenticator.js";

/** Where the console of a service on loopback is. */
export const consoleOriginOf = ({ url }: Pick<BlackBoxService, "url">) =>
  url.replace("127.0.0.1", "localhost");

/** A request of the console's page. */
export async function callConsole(
  service: Pick<BlackBoxService, "url">,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, unknown>; code: string | undefined; cookie: string }> {
  const response = await fetch(`${service.url}/console/session${path}`, {
    method,
    headers: {
      origin: consoleOriginOf(service),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const read = (text === "" ? {} : JSON.parse(text)) as { error?: { code: string } };
  return {
    status: response.status,
    body: read as Record<string, unknown>,
    code: read.error?.code,
    cookie: response.headers.get("set-cookie") ?? "",
  };
}

export const cookieOf = (header: string) => ({ cookie: header.split(";")[0] ?? "" });

/** Registers a passkey with the link of an invitation. */
export async function registerWith(
  service: Pick<BlackBoxService, "url">,
  url: string,
  authenticator: Authenticator = createAuthenticator(consoleOriginOf(service)),
  faults: Faults = {},
) {
  const invitation = new URL(url).hash.slice("#invitation=".length);
  const options = await callConsole(service, "POST", "/registration-options", { invitation });
  if (options.status !== 200) return { ...options, authenticator };
  const made = authenticator.register(options.body as never, faults);
  const answer = await callConsole(service, "POST", "/registration", { invitation, name: "Laptop", ...made });
  return { ...answer, authenticator };
}

/** A request that a person confirms with a passkey. */
export async function callConfirmed(
  service: Pick<BlackBoxService, "call">,
  person: { token: string; authenticator: Authenticator },
  operation: { id: string; method: string; path: string },
  body?: unknown,
): Promise<Response> {
  const digest = createHash("sha256")
    .update(body === undefined ? "" : JSON.stringify(body))
    .digest("hex");
  const header = passkeyHeader(person, { act: operation.id, target: operation.path, digest });
  return await service.call(operation.method, operation.path, person.token, body, {
    "bursar-passkey": header,
  });
}

export async function logInWith(
  service: Pick<BlackBoxService, "url">,
  authenticator: Authenticator,
  faults: Faults = {},
) {
  const { body } = await callConsole(service, "POST", "/challenge");
  const assertion = authenticator.assert(body["challenge"] as string, faults);
  const given = { user_handle: authenticator.userHandle(), ...assertion };
  return { ...(await callConsole(service, "POST", "", given)), given };
}

/** An access token of the session. */
export async function tokenOf(service: Pick<BlackBoxService, "url">, cookie: string): Promise<string> {
  const { body, code } = await callConsole(service, "POST", "/token", undefined, cookieOf(cookie));
  if (typeof body["access_token"] !== "string") throw new Error(`no token: ${code}`);
  return body["access_token"];
}
