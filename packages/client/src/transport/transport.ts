import { createAuthorization } from "../credentials/authorization.js";
import { BursarError, invalidArgument } from "../errors/bursar-error.js";
import type { Operations } from "../generated/operations.js";
import { type Exchange, exchange, type OutgoingRequest } from "./exchange.js";
import { watchFailedConnections } from "./failed-connections.js";
import { type CallTraits, type Fault, judge } from "./judge.js";
import type { BursarOptions, CreateOptions, RequestNotice } from "./options.js";
import { randomKey } from "./random-key.js";
import { type Answered, type ResponseInfo, withResponse } from "./response-info.js";
import { type Runtime, sleep, systemRuntime } from "./runtime.js";
import { fillPath, formatQuery, type Parameters, readBaseUrl, refuseForbiddenPort } from "./target.js";

type OperationName = keyof Operations & string;

/** Marks a call without an idempotency key as one that may be repeated: it sets a state, or does nothing. */
type Repeatable<Name> = Name extends `POST ${string}` ? { repeatable?: true } : object;
type InputOf<Name extends OperationName> = Operations[Name]["input"] & Repeatable<Name>;
export type ResultOf<Name extends OperationName> = Answered<Operations[Name]["result"]>;

/** Sends the operations of the API. Resources are thin functions over it. */
export interface Transport {
  call: <Name extends OperationName>(
    operation: Name,
    input: InputOf<Name>,
    options?: CreateOptions,
  ) => Promise<ResultOf<Name>>;
  /** The same for a conditional read: undefined if the service answered 304. */
  callIfChanged: <Name extends OperationName>(
    operation: Name,
    input: InputOf<Name>,
    options?: CreateOptions,
  ) => Promise<ResultOf<Name> | undefined>;
  /** An access token that is valid now; `stale` is one that was refused. */
  token: (options?: { stale?: string | undefined; signal?: AbortSignal | undefined }) => Promise<string>;
  /** The fields by which the credentials authenticate at the endpoints for tokens. */
  clientAuthentication: () => Promise<Record<string, string>>;
  baseUrl: string;
  runtime: Runtime;
  WebSocket: BursarOptions["WebSocket"];
}

/** An operation as the loop needs it. */
interface Call {
  operation: string;
  input: LooseInput;
  options: CreateOptions;
  /** The form is made for each attempt: an assertion may be used once. */
  form?: (() => Promise<Record<string, string>>) | undefined;
}

interface LooseInput {
  path?: Parameters;
  query?: Parameters;
  headers?: Parameters;
  body?: unknown;
  form?: Record<string, string>;
  keyed?: true;
  anonymous?: true;
  repeatable?: true;
}

const defaults = { timeoutMs: 30_000, budgetMs: 60_000, retriesMax: 4 };
const firstPauseMs = 500;
const pauseMsMax = 8000;

export function createTransport(options: BursarOptions): Transport {
  const runtime: Runtime = { ...systemRuntime, ...options.runtime };
  const baseUrl = readBaseUrl(options.baseUrl);
  const { origin } = new URL(baseUrl);
  if (options.fetch === undefined) refuseForbiddenPort(baseUrl);
  watchFailedConnections();
  const fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const authorization = createAuthorization(options, {
    baseUrl,
    runtime,
    requestToken: async (form, signal) =>
      (await run({
        operation: "POST /oauth/token",
        input: { anonymous: true, repeatable: true },
        form,
        options: { signal },
      })) as { access_token?: unknown; expires_in?: unknown },
  });

  async function send(call: Call, request: OutgoingRequest, attempt: Attempt): Promise<Exchange> {
    const notice: RequestNotice = {
      operation: call.operation,
      method: request.method,
      url: request.url,
      attempt: attempt.number,
      idempotencyKey: call.options.idempotencyKey,
    };
    notify(options.onRequest, notice);
    const startedAt = runtime.monotonicMs();
    const timeoutMs = call.options.timeoutMs ?? options.timeoutMs ?? defaults.timeoutMs;
    const { signal } = call.options;
    const result = await exchange(
      { fetch, runtime },
      request,
      Math.min(timeoutMs, attempt.remainingMs),
      signal,
    );
    const isResponse = result.kind === "response";
    notify(options.onResponse, {
      ...notice,
      status: isResponse ? result.status : undefined,
      requestId: isResponse ? (result.headers.get("x-request-id") ?? undefined) : undefined,
      code: isResponse ? undefined : result.code,
      durationMs: runtime.monotonicMs() - startedAt,
    });
    return result;
  }

  /** One call, with all its attempts. */
  async function run(given: Call): Promise<unknown> {
    const call = withKey(withSignal(given, options.signal));
    const { operation, input, options: own } = call;
    const [method = "", template = ""] = operation.split(" ");
    const url = baseUrl + fillPath(template, input.path) + formatQuery(input.query);
    const traits = { ...traitsOf(method, input), origin };
    const confirmation = await confirm(options.confirm, call, url.slice(origin.length));
    // What a person has confirmed is accepted once, so another attempt would ask for it again.
    const retriesMax = confirmation === undefined ? (options.retriesMax ?? defaults.retriesMax) : 0;
    const endsAt = runtime.monotonicMs() + (own.budgetMs ?? options.budgetMs ?? defaults.budgetMs);
    let retries = 0;
    let isRenewed = false;
    let isUncertain = false;
    let attempts = 0;

    const fail = (fault: Fault): BursarError => {
      const mayHaveHappened = traits.isRead ? fault.effect === "possible" : isUncertain;
      const outcome = mayHaveHappened ? "unknown" : fault.effect === "not_sent" ? "not_sent" : "refused";
      return new BursarError({ ...fault, outcome, attempts, idempotencyKey: own.idempotencyKey });
    };

    for (;;) {
      let token: string | undefined;
      try {
        token = input.anonymous ? undefined : await authorization.token({ signal: own.signal });
      } catch (error) {
        throw withoutToken(error, { isUncertain, attempts, idempotencyKey: own.idempotencyKey });
      }
      attempts += 1;
      const request = await authorization.sign(await assemble(call, method, url, { token, confirmation }));
      const remainingMs = endsAt - runtime.monotonicMs();
      const result = await send(call, request, { number: attempts, remainingMs });
      const verdict = judge(result, traits, runtime.now());
      if (verdict.kind === "success" || verdict.kind === "not_modified") {
        const info = infoOf(result as Exchange & { kind: "response" }, attempts, own.idempotencyKey);
        return verdict.kind === "success" ? withResponse(verdict.value, info) : undefined;
      }
      const { fault } = verdict;
      isUncertain ||= fault.effect === "possible";
      if (verdict.kind === "unauthenticated") {
        if (isRenewed || token === undefined) throw fail(fault);
        isRenewed = true;
        authorization.refuse(token);
        continue;
      }
      if (verdict.kind === "fail" || retries >= retriesMax) throw fail(fault);
      // Full jitter: clients that failed together do not come back together.
      const jitterMs = runtime.random() * Math.min(pauseMsMax, firstPauseMs * 2 ** retries);
      const pauseMs = Math.max(jitterMs, fault.retryAfterMs ?? 0);
      if (pauseMs >= endsAt - runtime.monotonicMs()) throw fail(fault);
      retries += 1;
      await sleep(runtime, pauseMs, own.signal).catch((cause: unknown) => {
        throw fail({ ...fault, code: "ABORTED", message: "The call was aborted.", cause });
      });
    }
  }

  const start = (operation: OperationName, input: object, own: CreateOptions = {}) =>
    run({ operation, input: input as LooseInput, options: own });
  return {
    call: start as Transport["call"],
    callIfChanged: start as Transport["callIfChanged"],
    token: async ({ stale, signal = options.signal } = {}) => {
      if (stale !== undefined) authorization.refuse(stale);
      return await authorization.token({ signal });
    },
    clientAuthentication: authorization.clientAuthentication,
    baseUrl,
    runtime,
    WebSocket: options.WebSocket,
  };
}

interface Attempt {
  number: number;
  remainingMs: number;
}

/** A call ends with its own signal and with that of the client. */
function withSignal(call: Call, signal: AbortSignal | undefined): Call {
  if (signal === undefined) return call;
  const { signal: own } = call.options;
  return { ...call, options: { ...call.options, signal: own ? AbortSignal.any([own, signal]) : signal } };
}

const keyPattern = /^[!#-[\]-~]{1,255}$/;

function withKey(call: Call): Call {
  if (call.input.keyed !== true) return { ...call, options: { ...call.options, idempotencyKey: undefined } };
  const idempotencyKey = call.options.idempotencyKey ?? randomKey();
  if (!keyPattern.test(idempotencyKey))
    throw invalidArgument('idempotencyKey must be 1 to 255 visible ASCII characters other than " and \\.');
  return { ...call, options: { ...call.options, idempotencyKey } };
}

function traitsOf(method: string, { keyed, repeatable }: LooseInput): Omit<CallTraits, "origin"> {
  const isRead = method === "GET";
  return { isRead, isRepeatable: isRead || keyed === true || repeatable === true || method !== "POST" };
}

async function assemble(
  { input, options, form }: Call,
  method: string,
  url: string,
  { token, confirmation }: { token: string | undefined; confirmation: string | undefined },
): Promise<OutgoingRequest> {
  const headers: Record<string, string> = { accept: "application/json" };
  for (const [name, value] of Object.entries(input.headers ?? {}))
    if (value !== undefined) headers[name.toLowerCase()] = String(value);
  if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
  if (confirmation !== undefined) headers["bursar-passkey"] = confirmation;
  if (options.idempotencyKey !== undefined) headers["idempotency-key"] = options.idempotencyKey;
  const fields = (await form?.()) ?? input.form;
  if (fields !== undefined) {
    headers["content-type"] = "application/x-www-form-urlencoded";
    return { method, url, headers, body: new URLSearchParams(fields).toString() };
  }
  if (input.body === undefined) return { method, url, headers, body: undefined };
  headers["content-type"] = "application/json";
  return { method, url, headers, body: textOf(input) };
}

function textOf({ body }: LooseInput): string | undefined {
  return body === undefined ? undefined : JSON.stringify(body);
}

/** Asks before the time of the call runs: a person may take longer than the service. */
async function confirm(
  ask: BursarOptions["confirm"],
  { operation, input }: Call,
  target: string,
): Promise<string | undefined> {
  return await ask?.({ operation, target, body: textOf(input) });
}

function infoOf(
  { status, headers }: Exchange & { kind: "response" },
  attempts: number,
  idempotencyKey: string | undefined,
): ResponseInfo {
  return {
    status,
    requestId: headers.get("x-request-id") ?? undefined,
    idempotencyKey,
    replayed: headers.get("idempotent-replayed") === "true",
    attempts,
    etag: headers.get("etag") ?? undefined,
  };
}

/** A call that could not get a token has not been sent, unless an earlier attempt was. */
function withoutToken(
  error: unknown,
  {
    isUncertain,
    attempts,
    idempotencyKey,
  }: { isUncertain: boolean; attempts: number; idempotencyKey: string | undefined },
): unknown {
  if (!(error instanceof BursarError)) return error;
  const { code, message, status, requestId, details, retryAfterMs, cause } = error;
  const outcome = isUncertain ? "unknown" : "not_sent";
  return new BursarError({
    code,
    message,
    status,
    requestId,
    details,
    retryAfterMs,
    cause,
    outcome,
    attempts,
    idempotencyKey,
  });
}

/** A hook that throws must not decide about a payment. */
function notify<Notice>(hook: ((notice: Notice) => void) | undefined, notice: Notice): void {
  try {
    hook?.(notice);
  } catch {
    // The hook is the caller's own; what it throws is its own concern.
  }
}
