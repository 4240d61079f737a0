import { errorCatalog } from "@bursar/protocol";
import type { FastifyInstance } from "fastify";
import type { AccessGuard } from "../access/guard.js";
import { type ErrorsOptions, toRefusal as toEdgeRefusal } from "../plugins/errors.js";
import { OAuthRefusal } from "./oauth-refusal.js";

interface OAuthContextOptions extends ErrorsOptions {
  guard: Pick<AccessGuard, "addresses">;
}

/**
 * The part of the edge that speaks OAuth: form-encoded bodies, and errors in the form of RFC 6749. Nothing of it may be kept by
 * a cache.
 */
export function installOAuthContext(app: FastifyInstance, options: OAuthContextOptions): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    (_request, body, done) => {
      const form = parseForm(body as string);
      if (form instanceof OAuthRefusal) done(form);
      else done(null, form);
    },
  );
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("cache-control", "no-store").header("pragma", "no-cache");
    const waitSeconds = options.guard.addresses.take(request.ip);
    done(waitSeconds === 0 ? undefined : tooMany(waitSeconds));
  });
  app.setErrorHandler((error, request, reply) => {
    const refusal = error instanceof OAuthRefusal ? error : translate(error, options);
    if (refusal.status >= 500)
      request.log.error({ request_id: request.id, err: error }, "the request failed");
    return reply
      .code(refusal.status)
      .headers(refusal.headers)
      .type("application/json; charset=utf-8")
      .send(refusal.body);
  });
}

function tooMany(waitSeconds: number): OAuthRefusal {
  const description = "Too many requests from this address.";
  return new OAuthRefusal({ fault: "slow_down", description, retryAfterSeconds: waitSeconds });
}

/** A parameter may stand in a form once (RFC 6749, section 3.2); an empty one counts as left out. */
function parseForm(body: string): Record<string, string> | OAuthRefusal {
  const form = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(body)) {
    if (form.has(name))
      return new OAuthRefusal({ fault: "invalid_request", description: "A parameter is repeated." });
    if (value !== "") form.set(name, value);
  }
  return Object.fromEntries(form);
}

function translate(
  error: unknown,
  options: ErrorsOptions,
): Pick<OAuthRefusal, "status" | "body" | "headers"> {
  const { code, message, details, headers } = toEdgeRefusal(error, options);
  const { status } = errorCatalog[code];
  const name = status < 500 ? "invalid_request" : status === 503 ? "temporarily_unavailable" : "server_error";
  const fault = details?.[0];
  const wrongType = "The body must be sent as application/x-www-form-urlencoded.";
  const fallback = code === "UNSUPPORTED_MEDIA_TYPE" ? wrongType : message;
  const description = fault === undefined ? fallback : `${fault.path.replace(/^body\./, "")} ${fault.reason}`;
  return { status, body: { error: name, error_description: description }, headers };
}
