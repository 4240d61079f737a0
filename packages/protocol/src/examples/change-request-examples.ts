import { type Examples, lastPage } from "./example.js";
import { exampleIds } from "./example-ids.js";
import { exampleDestinationBody, examplePolicy } from "./policy-examples.js";

const digest = "d128ac33dc7b0c72df9ddaeffa83506e055be6ad526f0c4c3101d55f4895d000";
const createdAt = "2026-11-16T08:30:00.000Z";
const appliedAt = "2026-11-16T08:41:20.450Z";

export const changeRequestSummary = {
  id: exampleIds.changeRequest,
  object: "change_request",
  kind: "client.change",
  target: exampleIds.changedClient,
  state: "pending",
  version: 1,
  digest,
  requested_by: exampleIds.client,
  failure_code: null,
  created_at: createdAt,
  expires_at: "2026-11-17T08:30:00.000Z",
};

const change = { client_id: exampleIds.changedClient, state: "disabled" };
const comment = "Left the company.";

/** What `digest` is the SHA-256 of. */
const approvedContent = JSON.stringify({
  change,
  change_request_id: exampleIds.changeRequest,
  expires_at: changeRequestSummary.expires_at,
  kind: changeRequestSummary.kind,
  requested_by: exampleIds.client,
  target: exampleIds.changedClient,
  tenant_id: exampleIds.tenant,
  type: "bursar.change.v1",
});

const pending = {
  ...changeRequestSummary,
  change,
  comment,
  required: 1,
  decisions: [],
  delay_seconds: 0,
  effective_at: null,
  updated_at: createdAt,
};

const decision = {
  client_id: exampleIds.approver,
  decision: "approve",
  comment: null,
  decided_at: appliedAt,
};

const applied = {
  ...pending,
  state: "applied",
  version: 2,
  decisions: [decision],
  effective_at: appliedAt,
  updated_at: appliedAt,
};

export const changeRequestExamples: Examples = {
  "CreateChangeRequestBody.client_change": {
    summary: "Disable a client",
    value: { kind: "client.change", change, comment },
  },
  "CreateChangeRequestBody.client_key_add": {
    summary: "Register a public key",
    value: {
      kind: "client.key.add",
      change: {
        client_id: exampleIds.client,
        public_key: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
      },
    },
  },
  "CreateChangeRequestBody.client_key_remove": {
    summary: "Remove a key",
    value: {
      kind: "client.key.remove",
      change: { client_id: exampleIds.client, key_id: exampleIds.key },
    },
  },
  "CreateChangeRequestBody.person_recover": {
    summary: "Let a person register a new passkey",
    value: { kind: "person.recover", change: { client_id: exampleIds.person } },
  },
  "CreateChangeRequestBody.client_secret_remove": {
    summary: "Remove a secret",
    value: {
      kind: "client.secret.remove",
      change: { client_id: exampleIds.client, secret_id: exampleIds.secret },
    },
  },
  "CreateChangeRequestBody.policy_replace": {
    summary: "Replace the policy",
    value: { kind: "policy.replace", change: { expected_version: 3, document: examplePolicy } },
  },
  "CreateChangeRequestBody.destination_create": {
    summary: "List an address",
    value: { kind: "destination.create", change: exampleDestinationBody },
  },
  "CreateChangeRequestBody.destination_remove": {
    summary: "Remove an address",
    value: { kind: "destination.remove", change: { destination_id: exampleIds.destination } },
  },
  DecideChangeBody: { value: { digest, comment: "Confirmed by phone." } },
  "ChangeRequest.pending": { summary: "Waits for approval", value: pending },
  "ChangeRequest.applied": { summary: "Approved and applied", value: applied },
  "ChangeRequest.rejected": {
    summary: "Rejected",
    value: {
      ...pending,
      state: "rejected",
      version: 2,
      decisions: [{ ...decision, decision: "reject" }],
      updated_at: appliedAt,
    },
  },
  "ChangeRequest.cancelled": {
    summary: "Cancelled",
    value: { ...pending, state: "cancelled", version: 2, updated_at: appliedAt },
  },
  ChangeRequestPage: lastPage(pending),
  "ApprovalRecords.change_request": {
    summary: "Of a change request",
    value: {
      digest,
      content: approvedContent,
      data: [{ object: "approval", ...decision, digest, signature: null }],
    },
  },
};
