import { StreamTicket } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { defineRoute } from "../../route.js";

export function issueStreamTicket({ issueStreamTicket: issue }: Pick<UseCases, "issueStreamTicket">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/stream/tickets",
      access: "events:read",
      operationId: "issueStreamTicket",
      tag: "Events",
      summary: "Get a ticket for the live stream",
      description:
        "For browsers, which cannot send `Authorization` with a WebSocket. A ticket opens one stream, within 30 seconds, with the permissions of the token.",
      success: { status: 201, schema: StreamTicket, description: "The ticket.", headers: ["Cache-Control"] },
      errors: [],
    },
    (request, reply) => {
      const { ticket, expiresAtMs } = issue(principalOf(request));
      return reply
        .code(201)
        .header("cache-control", "no-store")
        .send({ object: "stream_ticket", ticket, expires_at: new Date(expiresAtMs).toISOString() });
    },
  );
}
