import { urlOf } from "../engine/kit.js";
import { isOfGateway } from "../http/find-gateway.js";
import { type ReceivedResponse, send } from "../http/send.js";
import { safeLine } from "../report/safe-text.js";
import { obtainToken } from "../target/oauth.js";
import { type GivenTarget, readTarget } from "../target/read-target.js";
import { UsageFault } from "../target/read-values.js";
import type { Credentials, Target } from "../target/target.js";

export interface PreparedTarget {
  readonly target: Target;
  readonly token: string;
  readonly secondToken: string | undefined;
  readonly limitedToken: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Everything that can be wrong before a check runs: the file, the address, the credentials. Nothing is written: the request that shows
 * whether the token is accepted has a body that is no JSON.
 */
export async function prepareTarget(
  source: string,
  given: GivenTarget,
  environment: Environment,
): Promise<PreparedTarget> {
  const first = readTarget(source, given, environment);
  const found = await probe(first, "GET", "/v1/orderbook", undefined);
  const isBursar = found.headers.some(([name]) => name.toLowerCase() === "bursar-version");
  const target = readTarget(source, given, environment, isBursar ? "bursar" : undefined);
  const token = await tokenOf(target, target.credentials);
  const tokenOfOther = (other: Credentials | undefined) =>
    other === undefined ? undefined : tokenOf(target, other);
  const secondToken = await tokenOfOther(target.secondTenant);
  const limitedToken = await tokenOfOther(target.limited);
  const answered = await probe(target, "POST", "/v1/transactions", token);
  const { status } = answered;
  if ([found, answered].every((response) => isOfGateway({ response }))) refuseGateway(target, status);
  if (status === 401 || status === 403)
    throw new UsageFault(`${target.baseUrl.href} refuses the token with status ${status}.`);
  return { target, token, secondToken, limitedToken };
}

/** Every check would fail, or take the gateway's answer for a refusal of the service. */
function refuseGateway({ baseUrl }: Target, status: number): never {
  throw new UsageFault(
    `${baseUrl.href} answers with status ${status} and no error object: a gateway in front of the service does not reach it.`,
  );
}

async function tokenOf(target: Target, credentials: Credentials): Promise<string> {
  return credentials.token ?? (await obtainToken(target.baseUrl, credentials, target.timing.requestMs));
}

async function probe(
  target: Target,
  method: string,
  path: string,
  token: string | undefined,
): Promise<ReceivedResponse> {
  const url = urlOf(target.baseUrl, path);
  const headers: [string, string][] = token === undefined ? [] : [["Authorization", `Bearer ${token}`]];
  if (method === "POST")
    headers.push(["Content-Type", "application/json"], ["Idempotency-Key", "conformance-probe"]);
  const { response, failure } = await send(
    { method, url, headers, body: method === "POST" ? "{" : undefined },
    { timeoutMs: target.timing.requestMs, bodyBytesMax: 1 << 20, headerBytesMax: 64 << 10 },
  );
  if (response === undefined)
    throw new UsageFault(`${url.href} cannot be reached: ${safeLine(failure ?? "no response")}.`);
  return response;
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export function isOnThisMachine(url: URL): boolean {
  return loopback.test(url.hostname);
}
