import { type ErrorEntry, reportIt } from "./error-entry.js";

/** Errors about tokens and signatures, and about the tenant that they are of. */
export const credentialErrors = {
  UNAUTHENTICATED: {
    status: 401,
    message: "An access token is required.",
    when: "`Authorization` is missing or is not a bearer token",
    advice: "Get a token from `/oauth/token` and send it as `Authorization: Bearer …`.",
    forPeople: "Log in again. Nothing that you typed is lost.",
    retry: "never",
  },
  TOKEN_INVALID: {
    status: 401,
    message: "The access token is not valid.",
    when: "the token is malformed, was not issued by this service or for it, or is not valid yet",
    advice: "Get a new token.",
    forPeople: "Log in again. Nothing that you typed is lost.",
    retry: "never",
  },
  TOKEN_EXPIRED: {
    status: 401,
    message: "The access token has expired.",
    when: "the token is older than 15 minutes",
    advice: "Get a new token and retry.",
    forPeople: "Log in again. Nothing that you typed is lost.",
    retry: "never",
  },
  TOKEN_REVOKED: {
    status: 401,
    message: "The access token has been revoked.",
    when: "the token was revoked, or its client was disabled",
    advice: "Get a new token, if the client is still enabled.",
    forPeople: "Log in again, unless your account was disabled. Nothing that you typed is lost.",
    retry: "never",
  },
  TENANT_SUSPENDED: {
    status: 403,
    message: "The tenant is suspended.",
    when: "the operator of the service has suspended the tenant; none of its requests is accepted and nothing is processed",
    advice: "Ask the operator of the service.",
    retry: "never",
  },
  SIGNATURE_REQUIRED: {
    status: 401,
    message: "This client must sign its requests.",
    when: "the client is set to `require_signature` and the request has no signature",
    advice: "Sign the request as described by `Accept-Signature`.",
    forPeople: reportIt,
    retry: "never",
  },
  SIGNATURE_INVALID: {
    status: 401,
    message: "The signature of the request is not valid.",
    when: "a signature is malformed, does not cover all required components, has expired, is dated in the future, reuses a nonce, or does not verify",
    advice: "Sign the request again as described by `Accept-Signature`; `message` says what is wrong.",
    forPeople: reportIt,
    retry: "never",
  },
} as const satisfies Record<string, ErrorEntry>;
