import { ChangePersonBody, Person, PersonPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { personIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentPerson } from "./present-person.js";

export function changePerson({ changePerson: change }: Pick<UseCases, "changePerson">) {
  return defineRoute(
    {
      method: "PATCH",
      path: "/v1/people/:id",
      access: "clients:manage",
      operationId: "changePerson",
      passkey: true,
      tag: "People",
      summary: "Change the role or the name of a person, disable or enable them",
      description:
        "Takes effect everywhere within 5 seconds. The caller must hold every scope that the person has or gets. A person whose role has a scope that decides about others is protected: see the change request `client.change`, with `role`.",
      params: PersonPath,
      body: ChangePersonBody,
      isStop: (body) => (body as ChangePersonBody).state === "disabled",
      success: { status: 200, schema: Person, description: "The changed person." },
      errors: [
        "CHANGE_REQUEST_REQUIRED",
        "ADMINISTRATOR_IS_LAST",
        "PERSON_NOT_FOUND",
        "ROLE_NOT_FOUND",
        "CLIENT_TAMPERED",
      ],
    },
    async (request) =>
      presentPerson(unwrap(await change(originOf(request), personIdOf(request.params), request.body))),
  );
}
