import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { bookBytesMax } from "../checks/endpoint-checks.js";
import { urlOf } from "../engine/kit.js";
import { isOfGateway } from "../http/find-gateway.js";
import { errorIn, parseJson, type Reply } from "../http/reply.js";
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
  /** Whether the order book was answered with 404, and not by an error of a service. */
  readonly isBookMissing: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** An id that no transaction has. */
const bookPath = "/v1/orderbook";
const probePath = "/v1/transactions/conformance-probe";

/**
 * Everything that can be wrong before a check runs: the file, the address, the credentials. Nothing is written, and nothing is sent that a
 * service could stumble over: that would end it before the check that is about it.
 */
export async function prepareTarget(
  source: string,
  given: GivenTarget,
  environment: Environment,
): Promise<PreparedTarget> {
  const first = readTarget(source, given, environment);
  refuseMissingCommand(first);
  const found = await probe(first, bookPath, undefined);
  if (found.response === undefined)
    throw new UsageFault(
      `${urlOf(first.baseUrl, bookPath).href} cannot be reached: ${safeLine(found.failure ?? "no response")}.`,
    );
  await refuseRepeatedPrefix(first, found.response);
  const isBursar = found.response.headers.some(([name]) => name.toLowerCase() === "bursar-version");
  const target = readTarget(source, given, environment, isBursar ? "bursar" : undefined);
  const token = await tokenOf(target, target.credentials);
  const tokenOfOther = (other: Credentials | undefined) =>
    other === undefined ? undefined : tokenOf(target, other);
  const secondToken = await tokenOfOther(target.secondTenant);
  const limitedToken = await tokenOfOther(target.limited);
  const answered = await probe(target, probePath, token);
  if ([found, answered].every(isOfGateway)) refuseGateway(target, found.response.status);
  const locations = [found, answered].map(locationOf);
  if (!locations.includes(undefined)) refuseRedirect(target, found.response.status, locations[0] ?? "");
  if (answered.response?.status === 401) refuseToken(target, "status 401");
  return { target, token, secondToken, limitedToken, isBookMissing: isBookMissing(found.response) };
}

export function refuseToken({ baseUrl }: Target, answer: string): never {
  throw new UsageFault(`${baseUrl.href} refuses the token with ${answer}.`);
}

const notThere = [404, 405, 501];

const hasCode = (json: unknown) => typeof errorIn(json)?.["code"] === "string";

const isBookMissing = ({ status, body }: ReceivedResponse) =>
  status === 404 && !hasCode(parseJson(body.toString("utf8")));

/**
 * Whether a host has neither the order book nor transactions: it is another one, or has the service under a path. A service without a book
 * that refuses the first payment says so in an error object.
 */
export const isOtherHost = (prepared: PreparedTarget, { status, json }: Reply) =>
  prepared.isBookMissing && notThere.includes(status) && !hasCode(json);

export function refuseOtherHost({ baseUrl }: Target, createStatus: number): never {
  throw new UsageFault(
    `${baseUrl.href} does not seem to be the address of the service: GET /v1/orderbook is answered with 404 and POST /v1/transactions with ${createStatus}. Pass the address to which the kit has to append /v1.`,
  );
}

/** A service that answers every request with a redirect has another address. */
function refuseRedirect({ baseUrl }: Target, status: number, location: string): never {
  throw new UsageFault(
    `${baseUrl.href} redirects with status ${status} to ${safeLine(location)}. The kit does not follow redirects: pass the address that the service has.`,
  );
}

function locationOf({ response }: Answered): string | undefined {
  if (response === undefined || response.status < 300 || response.status > 399) return undefined;
  return response.headers.find(([name]) => name.toLowerCase() === "location")?.[1];
}

/** An address with the prefix, which the kit appends once more. */
async function refuseRepeatedPrefix(target: Target, { status }: ReceivedResponse): Promise<void> {
  const { href } = target.baseUrl;
  const shorter = href.replace(/\/v1\/?$/, "");
  if (status === 200 || shorter === href) return;
  const { response } = await probe({ ...target, baseUrl: new URL(shorter) }, bookPath, undefined);
  if (response === undefined || response.status === 404 || response.status === status) return;
  throw new UsageFault(
    `The address ${href} ends in /v1, which the kit appends itself: GET ${href.replace(/\/$/, "")}${bookPath} is answered with ${status}. Pass ${shorter}.`,
  );
}

/** A program that is not there is a mistake of the target file, not of the service. */
function refuseMissingCommand({ webhooks }: Target): void {
  const [program = ""] = webhooks?.signature?.scheme === "command" ? webhooks.signature.command : [];
  if (program === "") return;
  const folders = program.includes("/") ? [""] : (process.env["PATH"] ?? "").split(delimiter);
  const isThere = folders.some((folder) => isExecutable(folder === "" ? program : join(folder, program)));
  if (!isThere)
    throw new UsageFault(
      `webhooks.signature.command of the target file names ${program}, which is no program that can be started.`,
    );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
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

type Answered = Awaited<ReturnType<typeof send>>;

function probe({ baseUrl, timing }: Target, path: string, token: string | undefined): Promise<Answered> {
  const headers: [string, string][] = token === undefined ? [] : [["Authorization", `Bearer ${token}`]];
  return send(
    { method: "GET", url: urlOf(baseUrl, path), headers },
    { timeoutMs: timing.requestMs, bodyBytesMax: bookBytesMax, headerBytesMax: 64 << 10 },
  );
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export function isOnThisMachine(url: URL): boolean {
  return loopback.test(url.hostname);
}
