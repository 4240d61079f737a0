import type { ErrorEntry } from "./error-entry.js";

/** The errors of people and their roles. */
export const peopleErrors = {
  PERSON_NOT_FOUND: {
    status: 404,
    message: "Person not found.",
    when: "the tenant has no person with this id",
    advice: "Check the id.",
    retry: "never",
  },
  PERSON_EXISTS: {
    status: 409,
    message: "The tenant has a person with this email address.",
    when: "somebody is invited a second time",
    advice: "Make a new invitation for the person who exists: `POST /v1/people/{id}/invitation`.",
    retry: "never",
  },
  CLIENT_IS_PERSON: {
    status: 409,
    message: "The client is a person.",
    when: "the scopes, secrets, keys or `require_signature` of a person are changed like those of a program",
    advice: "Change the role with `PATCH /v1/people/{id}`. A person has passkeys, no secrets.",
    retry: "never",
  },
  ROLE_NOT_FOUND: {
    status: 404,
    message: "Role not found.",
    when: "neither the service nor the tenant has a role with this name",
    advice: "List the roles with `GET /v1/roles`.",
    retry: "never",
  },
  ROLE_EXISTS: {
    status: 409,
    message: "The tenant has a role with this name.",
    when: "a role is created with the name of another one, or of a built-in role",
    advice: "Use another name. A role cannot be changed.",
    retry: "never",
  },
  ROLE_IN_USE: {
    status: 409,
    message: "The role is in use.",
    when: "a built-in role is deleted, or one that a person has",
    advice: "Give these people another role first. Built-in roles cannot be deleted.",
    retry: "never",
  },
  ROLE_LIMIT_REACHED: {
    status: 409,
    message: "The tenant has too many roles.",
    when: "the tenant has 50 roles of its own",
    advice: "Delete roles that nobody has.",
    retry: "never",
  },
  INVITATION_INVALID: {
    status: 403,
    message: "The invitation is not valid.",
    when: "the link of an invitation was used before, is older than 30 minutes, was replaced, or never existed",
    advice: "Ask an administrator for a new invitation.",
    retry: "never",
  },
  PASSKEY_INVALID: {
    status: 403,
    message: "The passkey was not accepted.",
    when: "an assertion is not for this service, request or challenge, was used before, lacks user verification, or is of a passkey that nobody active has",
    advice: "Try again. If it persists, ask an administrator for a new invitation.",
    retry: "never",
  },
  PASSKEY_REQUIRED: {
    status: 403,
    message: "The request needs a passkey.",
    when: "a person approves, or changes policy, roles, secrets or endpoints, without `Bursar-Passkey`",
    advice:
      "Ask for the passkey with the challenge of this request, and send the assertion in `Bursar-Passkey`.",
    retry: "never",
  },
  PASSKEY_IS_LAST: {
    status: 409,
    message: "The last passkey cannot be removed.",
    when: "a person removes the only passkey that they have",
    advice: "Add another passkey first, with `POST /v1/me/passkeys`.",
    retry: "never",
  },
  SESSION_REQUIRED: {
    status: 401,
    message: "There is no session.",
    when: "a route of the console's session is called without the cookie of an open session",
    advice: "Log in.",
    retry: "never",
  },
  SESSION_NOT_FOUND: {
    status: 404,
    message: "Session not found.",
    when: "the person has no open session with this id",
    advice: "List the sessions; it may have ended.",
    retry: "never",
  },
  ORIGIN_REFUSED: {
    status: 403,
    message: "The request does not come from a page of this service.",
    when: "the `Origin` of a request to the console's session is missing or another one",
    advice: "Open the console at the address of the service.",
    retry: "never",
  },
} as const satisfies Record<string, ErrorEntry>;
