import { parseWebhookSecret } from "@bursar/protocol";
import { OperatorError } from "../../operator-error.js";
import { requestToken, type TokenRequest } from "../sandbox/request-token.js";

/** The sandbox's webhook endpoint for a receiver on this machine. */
export interface SandboxEndpoint {
  id: string;
  secret: Uint8Array;
  /** Sends a challenge to the receiver, which must know the secret by then. */
  verify: () => Promise<void>;
  remove: () => Promise<void>;
}

const requestTimeoutMs = 10_000;
const description = "bursar webhooks listen";

/** Registers a URL, for all events if none is named. An endpoint that an earlier run left behind is reused with a new secret. */
export async function registerSandboxEndpoint(
  client: TokenRequest,
  url: string,
  events: readonly string[] = ["*"],
): Promise<SandboxEndpoint> {
  const { data } = await callApi<{ data: { id: string; url: string; state: string }[] }>(
    client,
    "GET",
    "/v1/webhook-endpoints?limit=200",
  );
  const earlier = data.find((endpoint) => endpoint.url === url && endpoint.state !== "disabled");
  const { id, secret } =
    earlier === undefined ? await create(client, url, events) : await reuse(client, earlier.id, events);
  const bytes = parseWebhookSecret(secret);
  if (bytes === undefined) throw new OperatorError(`${client.url} returned a malformed secret.`);
  return {
    id,
    secret: bytes,
    verify: async () => {
      const path = `/v1/webhook-endpoints/${id}/verify`;
      const { verified, error } = await callApi<Verification>(client, "POST", path);
      if (!verified) throw new OperatorError(`The endpoint ${id} could not be verified: ${error}.`);
    },
    remove: () => callApi(client, "DELETE", `/v1/webhook-endpoints/${id}`),
  };
}

interface Verification {
  verified: boolean;
  error: string | null;
}

interface Registered {
  id: string;
  secret: string;
}

function create(client: TokenRequest, url: string, events: readonly string[]): Promise<Registered> {
  return callApi(client, "POST", "/v1/webhook-endpoints", { url, events, description });
}

async function reuse(client: TokenRequest, id: string, events: readonly string[]): Promise<Registered> {
  const path = `/v1/webhook-endpoints/${id}`;
  await callApi(client, "PATCH", path, { events });
  const { secret } = await callApi<{ secret: string }>(client, "POST", `${path}/rotate-secret`, {
    overlap_seconds: 0,
  });
  return { id, secret };
}

/** Sends one request with a new token, because a receiver can run for longer than a token is valid. */
async function callApi<T>(client: TokenRequest, method: string, path: string, body?: object): Promise<T> {
  // With all scopes of the client: an endpoint receives only what the token that registers it may read.
  const token = await requestToken(client);
  const response = await fetch(client.url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(requestTimeoutMs),
  });
  const text = await response.text();
  if (!response.ok)
    throw new OperatorError(`${client.url} refused ${method} ${path}: ${response.status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}
