import { CreateRoleBody, Role, RoleList, RolePath, showId } from "@bursar/protocol";
import { Type } from "typebox";
import type { Role as NamedScopes } from "../../../app/people/role.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, principalOf, unwrap } from "../../access/guard.js";
import { defineRoute } from "../../route.js";

export function listRoles({ listRoles: list }: Pick<UseCases, "listRoles">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/roles",
      access: "clients:manage",
      operationId: "listRoles",
      tag: "People",
      summary: "List the roles",
      description: "The built-in roles, then those of the tenant. There are few, so there are no pages.",
      success: { status: 200, schema: RoleList, description: "All roles." },
      errors: [],
    },
    async (request) => ({
      data: (await list(principalOf(request).principal.tenantId)).map(presentRole),
    }),
  );
}

export function createRole({ createRole: create }: Pick<UseCases, "createRole">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/roles",
      access: "clients:manage",
      operationId: "createRole",
      passkey: true,
      tag: "People",
      summary: "Create a role",
      description:
        "A role cannot be changed afterwards, so that it means the same to everybody who has it. It cannot have a scope that the caller's token lacks.",
      body: CreateRoleBody,
      success: { status: 201, schema: Role, description: "The role that was created." },
      errors: ["ROLE_EXISTS", "ROLE_LIMIT_REACHED"],
    },
    async (request, reply) => {
      const role = unwrap(await create(originOf(request), request.body));
      reply.code(201);
      return presentRole(role);
    },
  );
}

export function deleteRole({ deleteRole: remove }: Pick<UseCases, "deleteRole">) {
  return defineRoute(
    {
      method: "DELETE",
      path: "/v1/roles/:name",
      access: "clients:manage",
      operationId: "deleteRole",
      passkey: true,
      tag: "People",
      summary: "Delete a role that nobody has",
      description: "The built-in roles cannot be deleted.",
      params: RolePath,
      success: { status: 204, schema: Type.Null(), description: "The role was deleted." },
      errors: ["ROLE_IN_USE", "ROLE_NOT_FOUND"],
    },
    async (request, reply) => {
      unwrap(await remove(originOf(request), request.params.name));
      return reply.code(204).send();
    },
  );
}

function presentRole({ name, scopes, isBuiltIn, createdBy, createdAt }: NamedScopes): Role {
  return {
    object: "role",
    name,
    scopes: [...scopes],
    built_in: isBuiltIn,
    created_by: createdBy === null ? null : showId("cli", createdBy),
    created_at: createdAt?.toISOString() ?? null,
  };
}
