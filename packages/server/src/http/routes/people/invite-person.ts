import { InvitedPerson, InvitePersonBody } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { defineRoute } from "../../route.js";
import { presentInvited } from "./present-person.js";

export function invitePerson({ invitePerson: invite }: Pick<UseCases, "invitePerson">, publicUrl: string) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/people",
      access: "clients:manage",
      operationId: "invitePerson",
      passkey: true,
      tag: "People",
      summary: "Invite a person",
      description:
        "The response has a link, shown only once, with which the person registers a passkey. It works once, within 30 minutes. A role cannot be given that has a scope which the caller's token lacks. The person depends on the caller, who has seen the link.",
      body: InvitePersonBody,
      idempotent: "honoured",
      success: {
        status: 201,
        schema: InvitedPerson,
        description: "The person, with the link of the invitation.",
        headers: ["Location"],
      },
      errors: ["CLIENT_LIMIT_REACHED", "PERSON_EXISTS", "ROLE_NOT_FOUND"],
    },
    async (request, reply) => {
      const invited = unwrap(await invite(originOf(request), request.body, readIdempotencyKey(request)));
      if (invited.invitation === null) reply.header("idempotent-replayed", "true");
      const body = presentInvited(invited, publicUrl);
      reply.code(201).header("location", `/v1/people/${body.id}`);
      return body;
    },
  );
}
