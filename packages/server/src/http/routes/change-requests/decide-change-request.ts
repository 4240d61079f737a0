import { ChangeRequest, ChangeRequestPath, DecideChangeBody } from "@bursar/protocol";
import type { FastifyRequest } from "fastify";
import type { ChangeRequest as RequestedChange } from "../../../app/change-requests/change-request.js";
import { presentChangeRequest } from "../../../app/change-requests/present-change-request.js";
import { itemsOfChange } from "../../../app/quotas/take-quota.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, proofOf, unwrap } from "../../access/guard.js";
import { changeRequestIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { changeScopes } from "./change-scopes.js";

export const approveChangeRequest = (useCases: Pick<UseCases, "decideChange">) =>
  decideRoute(
    useCases,
    "approve",
    "Approve a change request",
    "The approver must be independent of the client that requested the change. The change is applied in this request, unless it needs more approvals or has a delay. If the request is signed, the signature is stored with the decision.",
  );

export const rejectChangeRequest = (useCases: Pick<UseCases, "decideChange">) =>
  decideRoute(
    useCases,
    "reject",
    "Reject a change request",
    "One rejection is final. The client that the change would restrict, and clients that depend on it, cannot reject it. A change that is approved and waits for its delay can still be rejected.",
  );

function decideRoute(
  { decideChange }: Pick<UseCases, "decideChange">,
  decision: "approve" | "reject",
  summary: string,
  description: string,
) {
  return defineRoute(
    {
      method: "POST",
      path: `/v1/change-requests/:id/${decision}`,
      access: changeScopes,
      operationId: `${decision}ChangeRequest`,
      passkey: ({ params, body }: FastifyRequest) => ({
        act: `change_request.${decision}`,
        target: (params as { id: string }).id,
        digest: (body as DecideChangeBody).digest,
      }),
      tag: "Change requests",
      summary,
      description,
      params: ChangeRequestPath,
      body: DecideChangeBody,
      isStop: decision === "reject" ? true : "perhaps",
      success: {
        status: 200,
        schema: ChangeRequest,
        description: "The change request after the decision.",
        examples: [decision === "approve" ? "applied" : "rejected"],
      },
      errors: [
        "CHANGE_REQUEST_NOT_FOUND",
        "CHANGE_REQUEST_CLOSED",
        "CHANGE_REQUEST_TAMPERED",
        "CHANGE_REQUEST_STALE",
        "APPROVAL_LIMIT_REACHED",
        "POLICY_REJECTED",
        "APPROVER_NOT_INDEPENDENT",
        "LIMITS_NOT_READY",
      ],
    },
    async (request) => {
      const id = changeRequestIdOf(request.params);
      const onRead = (read: RequestedChange) => {
        request.itemsFound = itemsOfChange(read);
      };
      const proof = proofOf(request);
      return presentChangeRequest(
        unwrap(await decideChange(originOf(request), id, { ...request.body, decision, proof }, onRead)),
      );
    },
  );
}
