import type { ErrorCode } from "@bursar/protocol";
import { ErrorBody, errorCatalog } from "@bursar/protocol";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifySchema,
  LogController,
} from "fastify";
import { Type } from "typebox";
import type { Readiness } from "../app/readiness.js";
import { installAccessLog, logAccess } from "./plugins/access-log.js";
import { installClosing } from "./plugins/closing.js";
import { installDocs } from "./plugins/docs.js";
import { answerRouterError, installErrors } from "./plugins/errors.js";
import { installJsonBody } from "./plugins/json-body.js";
import { collectMethods, installMethodNotAllowed } from "./plugins/method-not-allowed.js";
import { installMetrics } from "./plugins/metrics.js";
import { installOpenApi } from "./plugins/openapi.js";
import { answerUnusualRequests, createClientErrorHandler } from "./plugins/raw-answers.js";
import {
  createRequestIdChooser,
  installRequestContext,
  setCommonHeaders,
} from "./plugins/request-context.js";
import type { Route } from "./route.js";
import { healthz } from "./routes/healthz.js";
import { readyz } from "./routes/readyz.js";
import { createValidatorCompiler } from "./validation.js";

/**
 * The HTTP edge: everything between the socket and a use case. The order of a request is: request id, limits, schema,
 * handler; whatever fails on the way is answered by the error catalog.
 */
export interface EdgeOptions {
  log: FastifyBaseLogger;
  readiness: Readiness;
  newRequestId: () => string;
  isUnavailable: (error: unknown) => boolean;
  metricsToken: string | undefined;
  publicUrl: string | undefined;
  limits: EdgeLimits;
}

interface EdgeLimits {
  bodyBytes: number;
  headerBytes: number;
  jsonDepth: number;
  headersTimeoutMs: number;
  requestTimeoutMs: number;
}

/** How often Node looks for requests that are late; its own default of 30 s would make a limit of 5 s meaningless. */
const lateRequestCheckMs = 1000;

/** Longer than any identifier or market name. */
const pathSegmentLengthMax = 200;

export async function createEdge(
  options: EdgeOptions,
  routes: readonly Route[] = [],
): Promise<FastifyInstance> {
  const { log, limits, newRequestId } = options;
  const app: FastifyInstance = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    genReqId: createRequestIdChooser(newRequestId),
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: lateRequestCheckMs,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: pathSegmentLengthMax },
    // Requests that arrive on an open connection while the service stops are still served; the connection closes after.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    clientErrorHandler: createClientErrorHandler({ log, newRequestId }),
    frameworkErrors: (error, request, reply) => {
      // No hook runs for these, so what the hooks do is done here.
      setCommonHeaders(request, reply);
      answerRouterError(error, request, reply);
      logAccess(request, reply);
    },
  });
  answerUnusualRequests(app.server, { log, newRequestId });

  app.setValidatorCompiler(createValidatorCompiler() as never);
  app.addSchema(ErrorBody);
  const methodsByPath = collectMethods(app);
  installErrors(app, options);
  installRequestContext(app);
  installAccessLog(app);
  installClosing(app);
  installJsonBody(app, { depthMax: limits.jsonDepth });
  installMetrics(app, { token: options.metricsToken });
  await installOpenApi(app, options.publicUrl);
  installDocs(app);
  for (const route of [healthz, readyz(options.readiness), ...routes]) addRoute(app, route);
  installMethodNotAllowed(app, new Map(methodsByPath));
  return app;
}

function addRoute(app: FastifyInstance, route: Route): void {
  app.route({ method: route.method, url: route.path, schema: toFastifySchema(route), handler: route.handle });
}

function toFastifySchema(route: Route): FastifySchema {
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.body === undefined ? {} : { body: route.body }),
    ...(route.query === undefined ? {} : { querystring: route.query }),
    ...(route.params === undefined ? {} : { params: route.params }),
    ...(route.headers === undefined ? {} : { headers: route.headers }),
    response: { [route.success.status]: route.success.schema, ...describeErrors(route) },
  };
}

/** What any route can answer with, whatever it does. */
const errorsOfEveryRoute: readonly ErrorCode[] = ["MALFORMED_REQUEST", "INTERNAL"];
const errorsOfRoutesWithBody: readonly ErrorCode[] = [
  "MALFORMED_JSON",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
];

function describeErrors(route: Route): Record<number, unknown> {
  const takesInput = route.body !== undefined || route.query !== undefined || route.params !== undefined;
  const codes: ErrorCode[] = [
    ...errorsOfEveryRoute,
    ...(takesInput ? (["INVALID_REQUEST"] as const) : []),
    ...(route.body === undefined ? [] : errorsOfRoutesWithBody),
    ...route.errors,
  ];
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = errorCatalog[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      { ...Type.Ref("Error"), description: names.map((name) => `\`${name}\``).join(", ") },
    ]),
  );
}
