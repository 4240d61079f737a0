import type { Scope } from "@bursar/protocol";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchema,
  LogController,
} from "fastify";
import type { Metric } from "../runtime/metric.js";
import type { Readiness } from "../runtime/readiness.js";
import type { Tracer } from "../runtime/tracing/tracer.js";
import { type AccessGuard, guardRoute, installRequestState, principalOf } from "./access/guard.js";
import { passkeyOf } from "./access/passkey-act.js";
import { deprecationHooks } from "./deprecations.js";
import { installOAuthContext } from "./oauth/oauth-context.js";
import { installCors } from "./plugins/cors.js";
import { installDocuments } from "./plugins/documents.js";
import { answerRouterError, installErrors } from "./plugins/errors.js";
import { installJsonBody } from "./plugins/json-body.js";
import { collectMethods, installMethodNotAllowed } from "./plugins/method-not-allowed.js";
import { installMetrics } from "./plugins/metrics.js";
import { installOutcomes } from "./plugins/outcomes.js";
import {
  answerUnusualRequests,
  createClientErrorHandler,
  createPendingAnswers,
  type PendingAnswers,
} from "./plugins/raw-answers.js";
import {
  createPipeline,
  createRequestIdChooser,
  installClosing,
  installRequestContext,
  logAccess,
  type Pipeline,
  setCommonHeaders,
} from "./plugins/request-context.js";
import { installSecurityTxt, type SecurityTxtOptions } from "./plugins/security-txt.js";
import { boundSmallChunks } from "./plugins/small-chunks.js";
import { installTracing } from "./plugins/tracing.js";
import { installTrustedProxies, type TrustedProxiesOptions } from "./plugins/trusted-proxies.js";
import { installUpgrades } from "./plugins/upgrades.js";
import type { ConcurrencyLimits } from "./quotas/concurrency-gate.js";
import { createHeavyGates, type HeavyGates, installWork, keepTurn } from "./quotas/heavy-gate.js";
import { quotaClassOf } from "./quotas/quota-gate.js";
import { createTurns, inTurn, type Turns } from "./quotas/turns.js";
import { Refusal } from "./refusal.js";
import type { Route } from "./route.js";
import { healthz } from "./routes/operations/healthz.js";
import { readyz } from "./routes/operations/readyz.js";
import { compileValidator } from "./validation.js";

/**
 * The HTTP edge: everything between the socket and a use case. The order of a request is: request id, token, quota, body,
 * signature, schema, handler; any failure is answered from the error catalog.
 */
export interface EdgeOptions extends TrustedProxiesOptions {
  log: FastifyBaseLogger;
  readiness: Readiness;
  guard: AccessGuard;
  newRequestId: () => string;
  isUnavailable: (error: unknown) => boolean;
  metricsToken: string | undefined;
  isMetricsLocalOpen: boolean;
  metrics: readonly Metric[];
  /** Undefined if nothing is recorded. */
  tracer?: Tracer | undefined;
  securityTxt: Pick<SecurityTxtOptions, "contact" | "expires">;
  /** Origins whose scripts may call the API, separated by commas; `*` for all. */
  corsOrigins: string | undefined;
  now: () => number;
  limits: EdgeLimits;
}

interface EdgeLimits extends ConcurrencyLimits {
  /** Heavy requests of one tenant in progress; further ones wait. */
  heavyRequestsPerTenant: number;
  /** Those of the process; the requests of tenants take turns for them. */
  databaseConnections: number;
  bodyBytes: number;
  headerBytes: number;
  jsonDepth: number;
  headersTimeoutMs: number;
  requestTimeoutMs: number;
  /** How long a connection with a pending request may be idle; longer than any response is delayed. */
  idleTimeoutMs: number;
}

/** How often Node checks for late requests; its default of 30 s would make a limit of 5 s meaningless. */
const lateRequestCheckMs = 1000;

/**
 * An idle connection is closed without an answer, so a request that stops arriving must be noticed first: whatever the settings, after its
 * timeout there is a check before the connection counts as idle.
 */
function connectionTimeoutMs({ idleTimeoutMs, requestTimeoutMs }: EdgeLimits): number {
  return Math.max(idleTimeoutMs, requestTimeoutMs + 2 * lateRequestCheckMs);
}

/** Longer than any identifier or market name. */
const pathSegmentLengthMax = 200;

export async function createEdge(options: EdgeOptions, routes: readonly Route[]): Promise<FastifyInstance> {
  const pending = createPendingAnswers();
  const pipeline = createPipeline(pending);
  const app = createApp(options, pending, pipeline);
  pending.follow(app.server);
  boundSmallChunks(app.server, options.guard.addresses);
  answerUnusualRequests(app.server, { ...options, publicUrl: options.guard.publicUrl });
  installUpgrades(app, "/v1/stream", pending);
  installTrustedProxies(app, options);
  app.setValidatorCompiler(compileValidator as never);
  installRequestState(app);
  installWork(app);
  installErrors(app, options, options.guard.publicUrl);
  const outcomes = installOutcomes(app);
  installRequestContext(app, pipeline, outcomes);
  installTracing(app, options.tracer, outcomes);
  await installCors(app, options.corsOrigins);
  const { methodsByPath, stop: stopCollecting } = collectMethods(app);
  outcomes.onOutcome(logAccess);
  installClosing(app);
  installJsonBody(app, { depthMax: options.limits.jsonDepth });
  installMetrics(app, {
    token: options.metricsToken,
    isLocalOpen: options.isMetricsLocalOpen,
    metrics: options.metrics,
    outcomes,
  });
  const { databaseConnections, heavyRequestsPerTenant } = options.limits;
  const gates = {
    turns: createTurns(databaseConnections),
    heavyGates: createHeavyGates(heavyRequestsPerTenant),
  };
  const allRoutes = [healthz, readyz(options.readiness), ...routes];
  installDocuments(app, allRoutes, options.guard);
  installSecurityTxt(app, { ...options.securityTxt, publicUrl: options.guard.publicUrl, now: options.now });
  for (const route of allRoutes.filter(({ access }) => access !== "oauth"))
    addRoute(app, route, options, gates);
  await app.register(async (context) => {
    installOAuthContext(context, options);
    for (const route of allRoutes.filter(({ access }) => access === "oauth"))
      addRoute(context, route, options, gates);
  });
  stopCollecting();
  installMethodNotAllowed(app, methodsByPath, options.corsOrigins !== undefined);
  return app;
}

function createApp(
  { log, limits, newRequestId, trustedProxies, proxyProtocol, guard: { publicUrl } }: EdgeOptions,
  pending: PendingAnswers,
  pipeline: Pipeline,
): FastifyInstance {
  return Fastify({
    loggerInstance: withoutChildren(log),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    genReqId: createRequestIdChooser(newRequestId),
    // A proxy that forwards connections passes on the headers that the client has sent: nobody vouches for them.
    trustProxy: proxyProtocol ? false : (trustedProxies ?? false),
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: connectionTimeoutMs(limits),
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: lateRequestCheckMs,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: pathSegmentLengthMax },
    // Requests that arrive on an open connection while the service stops are still served; then the connection closes.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    clientErrorHandler: createClientErrorHandler({ log, newRequestId, publicUrl }, pending),
    frameworkErrors: (error, request, reply) => {
      // No hook runs for these, so their work is done here.
      const admitted = pipeline.admit(request.raw.socket);
      if (admitted === "ignored") {
        reply.hijack();
        return;
      }
      if (admitted === "full") reply.header("connection", "close");
      setCommonHeaders(request, reply);
      answerRouterError(error, request, reply, publicUrl);
      logAccess(request, reply);
    },
  });
}

/** A child logger for each request would cost 4 µs, and few requests log anything: each log call names its request. */
function withoutChildren(log: FastifyBaseLogger): FastifyBaseLogger {
  const same: FastifyBaseLogger = Object.create(log, { child: { value: () => same } });
  return same;
}

/** What requests to all routes wait for. */
interface Gates {
  turns: Turns;
  heavyGates: HeavyGates;
}

function addRoute(
  app: FastifyInstance,
  route: Route,
  options: EdgeOptions,
  { turns, heavyGates }: Gates,
): void {
  const { guard, readiness, now } = options;
  const { method, path, access } = route;
  const bodyLimit = route.bodyBytesMax === undefined ? {} : { bodyLimit: route.bodyBytesMax };
  const { onRequest: ends, ...deprecation } = deprecationHooks(route, now);
  const common = {
    method,
    url: path,
    schema: validatedSchemas(route),
    handler: route.handle,
    ...bodyLimit,
    ...deprecation,
  };
  const first = ends === undefined ? [] : [ends];
  const waits = refuseWhileStarting(readiness);
  // Without a token, what only reads is answered at any time; a session waits like everything else.
  if (access === "open") app.route({ ...common, onRequest: method === "GET" ? first : [...first, waits] });
  else if (access === "oauth") app.route({ ...common, onRequest: [...first, waits] });
  else {
    const { onRequest, preValidation, beginTurn, ...hooks } = guardRoute(
      {
        scopes: scopesOf(access),
        quotaClass: quotaClassOf({ method, path, access }),
        takesTickets: route.takesTickets === true,
        passkey: passkeyOf(route),
        takesLargeBodies: route.isAlwaysHeavy === true ? "always" : route.bodyBytesMax !== undefined,
        itemsOf: route.itemsOf,
        rowsPerToken: route.rowsPerToken,
        canStop: route.isStop !== undefined,
        heavyGates,
        limits: concurrencyOf(options),
      },
      guard,
    );
    const handle =
      route.takesNoTurns === true
        ? route.handle
        : inTurn(route, turns, (request) => principalOf(request).principal, beginTurn);
    const handler = route.bodyBytesMax === undefined ? handle : keepTurn(handle);
    app.route({
      ...common,
      ...hooks,
      handler,
      onRequest: [...first, waits, onRequest],
      preValidation: route.isBodyOptional === true ? [preValidation, fillBody] : preValidation,
    });
  }
}

/** After the signature was verified, which covers what was sent. */
function fillBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  request.body ??= {};
  done();
}

function scopesOf(access: Exclude<Route["access"], "open" | "oauth">): readonly Scope[] {
  return typeof access === "string" ? [access] : access;
}

function concurrencyOf({ limits, trustedProxies }: EdgeOptions): ConcurrencyLimits {
  const { requestsPerClient, connectionsPerClient } = limits;
  // A proxy's connections are shared by all clients.
  return {
    requestsPerClient,
    connectionsPerClient: trustedProxies === undefined ? connectionsPerClient : Number.POSITIVE_INFINITY,
  };
}

/**
 * What Fastify validates. Responses are typed and written by `JSON.stringify`: it is as fast as a serializer compiled from the
 * schema, and compiling one for each of 600 documented responses took most of a second at the start.
 */
function validatedSchemas({ body, checkedBody, query, params }: Route): FastifySchema {
  return {
    ...(body === undefined ? {} : { body: checkedBody ?? body }),
    ...(query === undefined ? {} : { querystring: query }),
    ...(params === undefined ? {} : { params }),
  };
}

/** Before the schema is migrated, a query could fail in ways that mean nothing to a client. */
function refuseWhileStarting(readiness: Readiness) {
  return (_request: unknown, _reply: unknown, done: (error?: Error) => void): void => {
    if (readiness.state() !== "starting") done();
    else done(new Refusal("UNAVAILABLE", { headers: { "retry-after": "1" } }));
  };
}
