import { BursarError, type SuppliedToken } from "@bursar/client";
import type { PasskeyAssertion, PasskeyRegistration, RegistrationOptions } from "./passkeys";

/** The routes that the session's cookie opens. Everything else is done with the tokens that they issue. */
const base = "/console/session";

export async function issueToken(): Promise<SuppliedToken> {
  const { access_token, expires_in } = await post<{ access_token: string; expires_in: number }>("/token");
  return { token: access_token, expiresInSeconds: expires_in };
}

export const askForChallenge = () => post<{ challenge: string }>("/challenge");

export const logIn = (assertion: PasskeyAssertion, challenge: string) =>
  post<unknown>("", { challenge, passkey: assertion });

export const askForRegistration = (invitation: string) =>
  post<RegistrationOptions>("/registration-options", { invitation });

export const register = (invitation: string, passkey: PasskeyRegistration) =>
  post<unknown>("/registration", { invitation, passkey });

export async function logOut(): Promise<void> {
  await send("DELETE", "");
}

function post<Answer>(path: string, body: object = {}): Promise<Answer> {
  return send("POST", path, body) as Promise<Answer>;
}

async function send(method: string, path: string, body?: object): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(`${base}${path}`, {
      method,
      credentials: "same-origin",
      ...(body === undefined
        ? {}
        : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
  } catch (cause) {
    throw new BursarError({
      code: "CONNECTION_FAILED",
      message: "The service cannot be reached.",
      outcome: "unknown",
      attempts: 1,
      cause,
    });
  }
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  const { error } = (answer ?? {}) as { error?: { code: string; message: string; request_id: string } };
  throw new BursarError({
    code: error?.code ?? "RESPONSE_INVALID",
    message: error?.message ?? `The service answered with ${response.status}.`,
    status: response.status,
    requestId: error?.request_id,
    outcome: "refused",
    attempts: 1,
  });
}
