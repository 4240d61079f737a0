import { StreamQuery } from "@bursar/protocol";
import { Type } from "typebox";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { Refusal } from "../../refusal.js";
import { defineRoute } from "../../route.js";

export function openStream({ openStream: open }: Pick<UseCases, "openStream">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/stream",
      access: "events:read",
      takesTickets: true,
      operationId: "openStream",
      tag: "Events",
      summary: "Open the live stream",
      description:
        "A WebSocket with the subprotocol `bursar.v1.json`; its messages are described by `/asyncapi.json`.",
      query: StreamQuery,
      takesNoTurns: true,
      success: {
        status: 101,
        schema: Type.Null(),
        description: "The connection is upgraded to a WebSocket.",
      },
      errors: ["TICKET_INVALID", "ORIGIN_NOT_ALLOWED", "UPGRADE_REQUIRED", "TOO_MANY_STREAMS", "OVERLOADED"],
    },
    (request, reply) => {
      const { upgrade, raw, id, ip } = request;
      if (upgrade === undefined) throw upgradeRequired({ connection: "upgrade" });
      const { takeSocket } = upgrade;
      const authenticated = principalOf(request);
      const refused = open({ request: raw, authenticated, requestId: id, address: ip, takeSocket });
      if (refused?.refused === "UPGRADE_REQUIRED") throw upgradeRequired({});
      unwrap(refused);
      return reply.hijack();
    },
  );
}

/** Names the supported version (RFC 6455, section 4.4). */
function upgradeRequired(more: Record<string, string>): Refusal {
  const headers = { upgrade: "websocket", "sec-websocket-version": "13", ...more };
  return new Refusal("UPGRADE_REQUIRED", { headers });
}
