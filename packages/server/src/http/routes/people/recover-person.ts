import { InvitedPerson, PersonPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { personIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentInvited } from "./present-person.js";

export function recoverPerson(
  { recoverPerson: recover }: Pick<UseCases, "recoverPerson">,
  publicUrl: string,
) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/people/:id/invitation",
      access: "clients:manage",
      operationId: "recoverPerson",
      passkey: true,
      tag: "People",
      summary: "Make a new invitation for a person",
      description:
        "Removes all passkeys of the person and ends their sessions. For a protected person who has passkeys it needs an approved change request `person.recover` of the caller. The person depends on the caller afterwards.",
      params: PersonPath,
      success: {
        status: 201,
        schema: InvitedPerson,
        description: "The person, with the link of the invitation.",
      },
      errors: ["CHANGE_REQUEST_REQUIRED", "PERSON_NOT_FOUND", "CLIENT_TAMPERED"],
    },
    async (request, reply) => {
      const invited = unwrap(await recover(originOf(request), personIdOf(request.params)));
      reply.code(201);
      return presentInvited(invited, publicUrl);
    },
  );
}
