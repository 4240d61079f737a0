// Generated from openapi.json by `npm run generate`.

/** The operations that ask people for their passkey, by method and path, with their ids. */
export const passkeyOperations: Readonly<Record<string, string>> = {
  "POST /v1/transactions/{id}/approvals": "decideApproval",
  "PUT /v1/policy": "replacePolicy",
  "POST /v1/destinations": "createDestination",
  "DELETE /v1/destinations/{id}": "removeDestination",
  "POST /v1/webhook-endpoints": "createWebhookEndpoint",
  "PATCH /v1/webhook-endpoints/{id}": "changeWebhookEndpoint",
  "DELETE /v1/webhook-endpoints/{id}": "deleteWebhookEndpoint",
  "POST /v1/webhook-endpoints/{id}/rotate-secret": "rotateWebhookSecret",
  "POST /v1/clients": "createClient",
  "PATCH /v1/clients/{client_id}": "changeClient",
  "POST /v1/clients/{client_id}/secrets": "rotateSecret",
  "DELETE /v1/clients/{client_id}/secrets/{secret_id}": "removeSecret",
  "POST /v1/clients/{client_id}/keys": "addKey",
  "DELETE /v1/clients/{client_id}/keys/{key_id}": "removeKey",
  "POST /v1/people": "invitePerson",
  "PATCH /v1/people/{id}": "changePerson",
  "POST /v1/people/{id}/invitation": "recoverPerson",
  "POST /v1/roles": "createRole",
  "DELETE /v1/roles/{name}": "deleteRole",
  "POST /v1/change-requests": "createChangeRequest",
  "POST /v1/change-requests/{id}/approve": "approveChangeRequest",
  "POST /v1/change-requests/{id}/reject": "rejectChangeRequest",
};
