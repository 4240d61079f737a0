import { ChangeRequest, CreateChangeRequestBody } from "@bursar/protocol";
import { presentChangeRequest } from "../../../app/change-requests/present-change-request.js";
import { itemsOfChange } from "../../../app/quotas/take-quota.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { defineRoute } from "../../route.js";
import { changeScopes } from "./change-scopes.js";

export function createChangeRequest({ requestChange }: Pick<UseCases, "requestChange">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/change-requests",
      access: changeScopes,
      operationId: "createChangeRequest",
      passkey: true,
      tag: "Change requests",
      summary: "Request a change that another client must approve",
      description:
        "The caller needs the scope that it would need to make the change directly; a client can always request a change of itself, and a key of its own with proof of a current credential: `current_secret`, or a signature by one of its keys. The change takes effect when it is approved and its delay has passed.",
      body: CreateChangeRequestBody,
      idempotent: "honoured",
      isStop: (body) => endsAccess(body as CreateChangeRequestBody),
      itemsOf: (body) => itemsOfChange(body as CreateChangeRequestBody),
      success: {
        status: 201,
        schema: ChangeRequest,
        description: "The change request.",
        headers: ["Location"],
        examples: ["pending"],
      },
      errors: [
        "CLIENT_IS_PERSON",
        "PERSON_NOT_FOUND",
        "ROLE_NOT_FOUND",
        "CREDENTIAL_PROOF_REQUIRED",
        "CLIENT_NOT_FOUND",
        "CREDENTIAL_NOT_FOUND",
        "KEY_LIMIT_REACHED",
        "CHANGE_REQUEST_LIMIT_REACHED",
        "PRECONDITION_FAILED",
        "POLICY_INVALID",
        "LIMITS_NOT_READY",
        "NETWORK_UNKNOWN",
        "ADDRESS_INVALID",
        "DESTINATION_NOT_FOUND",
        "DESTINATION_EXISTS",
      ],
    },
    async (request, reply) => {
      const { request: made, replayed } = unwrap(
        await requestChange(
          originOf(request),
          request.body,
          readIdempotencyKey(request),
          request.signature?.key,
        ),
      );
      const body = presentChangeRequest(made);
      if (replayed) reply.header("idempotent-replayed", "true");
      reply.code(201).header("location", `/v1/change-requests/${body.id}`);
      return body;
    },
  );
}

/** Whether the change would disable a client, or end a credential. A protected client is stopped this way. */
function endsAccess({ kind, change }: CreateChangeRequestBody): boolean {
  if (kind === "client.change") return change.state === "disabled";
  return kind === "client.secret.remove" || kind === "client.key.remove";
}
