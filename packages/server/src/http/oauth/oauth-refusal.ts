import type { OAuthFault } from "../../app/access/oauth-fault.js";

/** The statuses that RFC 6749 gives its errors; `slow_down` is ours, in the form of RFC 8628's. */
const statuses: Record<OAuthFault["fault"], number> = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_scope: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  slow_down: 429,
};

/** Ends a request to an OAuth endpoint. */
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
