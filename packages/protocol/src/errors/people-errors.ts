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
} as const satisfies Record<string, ErrorEntry>;
