import { Person, PersonPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { personIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentPerson } from "./present-person.js";

export function readPerson({ readPerson: read }: Pick<UseCases, "readPerson">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/people/:id",
      access: "clients:manage",
      operationId: "readPerson",
      tag: "People",
      summary: "Read a person",
      description: "A client that is a program is not found here.",
      params: PersonPath,
      success: { status: 200, schema: Person, description: "The person." },
      errors: ["PERSON_NOT_FOUND"],
    },
    async (request) =>
      presentPerson(unwrap(await read(principalOf(request).principal.tenantId, personIdOf(request.params)))),
  );
}
