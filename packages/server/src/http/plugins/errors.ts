import { type ErrorCode, errorBody, errorCatalog } from "@bursar/protocol";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { RefusedError } from "../../app/requests/refused.js";
import { refusalOf } from "../access/refusal-of.js";
import { Refusal } from "../refusal.js";
import { describeFaults } from "../validation.js";

export interface ErrorsOptions {
  /** Whether an error means that a dependency is temporarily unavailable. */
  isUnavailable: (error: unknown) => boolean;
}

/** Fastify's own errors, by code. One that is missing here is answered with 500 and logged. */
const frameworkErrors: Readonly<Record<string, ErrorCode>> = {
  // The client disconnected while it sent its body; this is not a failure of the service.
  ECONNRESET: "MALFORMED_REQUEST",
  FST_ERR_BAD_URL: "MALFORMED_REQUEST",
  FST_ERR_MAX_PARAM_LENGTH: "URI_TOO_LONG",
  FST_ERR_CTP_BODY_TOO_LARGE: "PAYLOAD_TOO_LARGE",
  FST_ERR_CTP_EMPTY_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "MALFORMED_REQUEST",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
};

/** Turns anything thrown by the framework, a hook or a handler into an error of the catalog. */
export function toRefusal(error: unknown, { isUnavailable }: ErrorsOptions): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof RefusedError) return refusalOf(error.refusal);
  const { code, validation, validationContext } = error as Partial<FastifyError>;
  if (validation !== undefined) {
    const details = describeFaults(validation as never, validationContext ?? "body");
    return new Refusal("INVALID_REQUEST", { details });
  }
  const known = code === undefined ? undefined : frameworkErrors[code];
  if (known !== undefined) return new Refusal(known);
  if (isUnavailable(error))
    return new Refusal("UNAVAILABLE", { headers: { "retry-after": "1" }, cause: error });
  return new Refusal("INTERNAL", { cause: error });
}

export function installErrors(app: FastifyInstance, options: ErrorsOptions, publicUrl: string): void {
  app.setErrorHandler((error, request, reply) =>
    sendError(toRefusal(error, options), request, reply, publicUrl),
  );
  app.setNotFoundHandler((request, reply) => sendError(notFound(request.url), request, reply, publicUrl));
}

/** A request for another version learns the current one. */
function notFound(url: string): Refusal {
  const version = /^\/v(\d{1,9})(?=[/?]|$)/.exec(url)?.[1];
  if (version === undefined || version === "1") return new Refusal("NOT_FOUND");
  return new Refusal("NOT_FOUND", {
    message: `API version ${version} does not exist; paths begin with /v1.`,
  });
}

/** Answers an error of the router, such as invalid percent-encoding, for which no hook runs. */
export function answerRouterError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
): void {
  sendError(toRefusal(error, { isUnavailable: () => false }), request, reply, publicUrl);
}

function sendError(
  refusal: Refusal,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
): FastifyReply {
  const { code, message, details } = refusal;
  const { status } = errorCatalog[code];
  request.errorCode = code;
  // Overload is logged when it begins and ends; a line for each request would add to it.
  if (status >= 500 && code !== "OVERLOADED") logFailure(refusal, status, request);
  return reply
    .code(status)
    .headers(refusal.headers)
    .type("application/json; charset=utf-8")
    .serializer(JSON.stringify)
    .send(errorBody({ code, message, requestId: request.id, publicUrl, details }));
}

function logFailure(refusal: Refusal, status: number, request: FastifyRequest): void {
  const { id, log } = request;
  if (status === 500) log.error({ request_id: id, err: refusal.cause ?? refusal }, "the request failed");
  else log.warn({ request_id: id, err: refusal.cause }, refusal.message);
}
