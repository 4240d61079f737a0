import type { FastifyReply } from "fastify";
import type { ChangeRequest } from "../../../app/change-requests/change-request.js";
import { presentChangeRequest } from "../../../app/change-requests/present-change-request.js";

/** Answers a change that needs approval with its change request. */
export function acceptChange(reply: FastifyReply, request: ChangeRequest) {
  const body = presentChangeRequest(request);
  reply.code(202).header("location", `/v1/change-requests/${body.id}`);
  return body;
}
