import { errorCatalog } from "@bursar/protocol";
import type { FastifyInstance } from "fastify";
import type { OAuthFault } from "../../app/access/authenticate-client.js";
import type { AccessGuard } from "../access/guard.js";
import { type ErrorsOptions, toRefusal as toEdgeRefusal } from "../plugins/errors.js";

interface OAuthContextOptions extends ErrorsOptions {
  guard: Pick<AccessGuard, "addresses">;
}

/**
 * Sets up the OAuth endpoints: form-encoded bodies, errors in the format of RFC 6749, and no caching.
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
  app.addHook("onRequest", (_request, reply, done) => {
    reply.header("cache-control", "no-store").header("pragma", "no-cache");
    done();
  });
  app.setErrorHandler((error, request, reply) => {
    const first = error instanceof OAuthRefusal ? error : translate(error, options);
    // Only failures count against the address: its other clients must not be kept from their tokens.
    const waitSeconds = first.status < 500 ? options.guard.addresses.take(request.ip) : 0;
    const refusal = waitSeconds === 0 || first.status === 429 ? first : tooMany(waitSeconds);
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
  const description = "Too many failed requests from this address.";
  return new OAuthRefusal({ fault: "slow_down", description, retryAfterSeconds: waitSeconds });
}

/** A parameter may appear once in a form (RFC 6749, section 3.2); an empty one counts as omitted. */
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

/** The statuses of RFC 6749; `slow_down` is borrowed from RFC 8628. */
const statuses: Record<OAuthFault["fault"], number> = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_scope: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  slow_down: 429,
};

/** An error response of an OAuth endpoint. */
export class OAuthRefusal extends Error {
  readonly status: number;
  readonly body: { error: string; error_description: string };
  readonly headers: Readonly<Record<string, string>>;

  constructor({ fault, description, retryAfterSeconds }: OAuthFault) {
    super(description);
    this.status = statuses[fault];
    this.body = { error: fault, error_description: description };
    this.headers = {
      ...(fault === "invalid_client" ? { "www-authenticate": 'Basic realm="bursar"' } : {}),
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    };
  }
}
