import { OperatorError } from "../../operator-error.js";

/** The credentials of a client, and the server that it requests a token from. */
export interface TokenRequest {
  url: string;
  clientId: string;
  secret: string;
}

const requestTimeoutMs = 10_000;

export async function requestToken(
  { url, clientId, secret }: TokenRequest,
  scope?: readonly string[],
): Promise<string> {
  const form = new URLSearchParams({ grant_type: "client_credentials" });
  if (scope !== undefined) form.set("scope", scope.join(" "));
  const credentials = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString(
    "base64",
  );
  const response = await fetch(`${url}/oauth/token`, {
    method: "POST",
    headers: { authorization: `Basic ${credentials}` },
    body: form,
    signal: AbortSignal.timeout(requestTimeoutMs),
  }).catch((cause: unknown) => {
    throw new OperatorError(`${url} does not answer. Is the service running?`, { cause });
  });
  const body = (await response.json().catch(() => ({}))) as {
    access_token?: string;
    error?: unknown;
    error_description?: string;
  };
  if (body.access_token === undefined) {
    throw new OperatorError(
      // An OAuth error is a string; anything else was answered by another program.
      `${url} refused: ${typeof body.error === "string" ? body.error : response.status} ${body.error_description ?? ""}`.trim(),
    );
  }
  return body.access_token;
}
