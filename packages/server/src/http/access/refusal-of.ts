import { acceptSignature, type ErrorCode } from "@bursar/protocol";
import type { Refused } from "../../app/requests/refused.js";
import { Refusal } from "../refusal.js";

/** The response headers of an error: the challenges of RFC 6750 and RFC 9421, and when to retry. */
const challenges: Partial<Record<ErrorCode, Record<string, string>>> = {
  UNAUTHENTICATED: { "www-authenticate": 'Bearer realm="bursar"' },
  TOKEN_INVALID: invalidToken("The access token is not valid."),
  TOKEN_EXPIRED: invalidToken("The access token has expired."),
  TOKEN_REVOKED: invalidToken("The access token has been revoked."),
  TICKET_INVALID: { "www-authenticate": 'Bearer realm="bursar"' },
  TOO_MANY_STREAMS: { "retry-after": "5" },
  UNAVAILABLE: { "retry-after": "1" },
  OVERLOADED: { "retry-after": "1" },
  SIGNATURE_REQUIRED: { "www-authenticate": 'Signature realm="bursar"', "accept-signature": acceptSignature },
  SIGNATURE_INVALID: { "www-authenticate": 'Signature realm="bursar"', "accept-signature": acceptSignature },
};

function invalidToken(description: string): Record<string, string> {
  return {
    "www-authenticate": `Bearer realm="bursar", error="invalid_token", error_description="${description}"`,
  };
}

/** Converts the refusal of a use case to an HTTP error. */
export function refusalOf({ refused, message, details, retryAfterSeconds }: Refused): Refusal {
  const headers =
    retryAfterSeconds === undefined ? challenges[refused] : { "retry-after": String(retryAfterSeconds) };
  return new Refusal(refused, {
    ...(message === undefined ? {} : { message }),
    ...(details === undefined ? {} : { details }),
    ...(headers === undefined ? {} : { headers }),
  });
}
