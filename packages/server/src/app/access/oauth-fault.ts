/** A refusal of an OAuth endpoint, by the names of RFC 6749 section 5.2. */
export interface OAuthFault {
  fault:
    | "invalid_request"
    | "invalid_client"
    | "invalid_scope"
    | "unauthorized_client"
    | "unsupported_grant_type"
    | "slow_down";
  description: string;
  retryAfterSeconds?: number;
}

export function isOAuthFault(value: unknown): value is OAuthFault {
  return typeof value === "object" && value !== null && "fault" in value;
}
