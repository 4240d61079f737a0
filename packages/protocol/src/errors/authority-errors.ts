import { type ErrorEntry, reportIt } from "./error-entry.js";

/** The errors of protected clients and change requests. */
export const authorityErrors = {
  CREDENTIAL_PROOF_REQUIRED: {
    status: 403,
    message: "The request does not prove possession of a current credential of the client.",
    when: "a client rotates its own secret, or requests a key for itself, with an access token alone, or with a `current_secret` that is not valid, has been replaced or expires too soon",
    advice: "Send the current secret as `current_secret`, or sign the request with a key of the client.",
    forPeople: reportIt,
    retry: "never",
  },
  CHANGE_REQUEST_REQUIRED: {
    status: 403,
    message: "This change needs the approval of another client.",
    when: "a client changes the credentials, scopes, state, `require_signature`, name or quotas of another client that is protected, or gives one a scope that a client which can act as it lacks",
    advice: "Create a change request, which another client approves, or ask the operator.",
    forPeople: "This needs a change request that another person approves.",
    retry: "never",
  },
  APPROVER_NOT_INDEPENDENT: {
    status: 403,
    message: "The approver is not independent of the client that asks for approval.",
    when: "the approver and the initiator share a client that created one of them or changed its authority, or a public key, or the approver was created or changed after the request",
    advice: "Ask another approver; `message` gives the reason.",
    forPeople:
      "Another approver has to decide. If there is none, cancel the payment or the change and request it again.",
    retry: "never",
  },
  CHANGE_REQUEST_NOT_FOUND: {
    status: 404,
    message: "Change request not found.",
    when: "the tenant has no change request with this id",
    advice: "Check the id.",
    retry: "never",
  },
  CHANGE_REQUEST_CLOSED: {
    status: 409,
    message: "The change request can no longer be decided.",
    when: "the change request was applied, rejected or cancelled, has failed, or has expired",
    advice: "Read the change request to see its state, and create a new one if necessary.",
    forPeople: "Load the change request again to see its state, and create a new one if it is still wanted.",
    retry: "never",
  },
  CHANGE_REQUEST_STALE: {
    status: 409,
    message: "The digest does not match the change request.",
    when: "`digest` differs from that of the change request; as the failure of a change request: what it changes has changed since it was requested",
    advice: "Read the change request again, review it, and send the digest that it shows.",
    forPeople: "Load the change request again, and review it as it is now.",
    retry: "never",
  },
  CHANGE_REQUEST_TAMPERED: {
    status: 409,
    message: "The change request was changed in the database.",
    when: "something other than the service has written the change request or a decision on it; the change request has failed",
    advice: "Tell the operator, and request the change again.",
    retry: "never",
  },
  CHANGE_REQUEST_LIMIT_REACHED: {
    status: 409,
    message: "The tenant has too many open change requests.",
    when: "more change requests would be pending or scheduled than 10 of one client, 20 of clients with a common lineage, or 100 of the tenant",
    advice: "Decide or cancel some of them first.",
    retry: "never",
  },
} as const satisfies Record<string, ErrorEntry>;
