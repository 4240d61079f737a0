import { PersonPath, SessionList, SessionPath } from "@bursar/protocol";
import { Type } from "typebox";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, principalOf, unwrap } from "../../access/guard.js";
import { personIdOf, sessionIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentSession } from "./present-session.js";

export function listOwnSessions({ listOwnSessions: list }: Pick<UseCases, "listOwnSessions">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/me/sessions",
      access: [],
      operationId: "listOwnSessions",
      tag: "Sessions",
      summary: "List the caller's open sessions",
      description: "A program has none.",
      success: { status: 200, schema: SessionList, description: "The sessions, newest first." },
      errors: [],
    },
    async (request) => {
      const { tenantId, clientId } = principalOf(request).principal;
      return { data: (await list(tenantId, clientId)).map(presentSession) };
    },
  );
}

export function endOwnSession({ endSessionsOf }: Pick<UseCases, "endSessionsOf">) {
  return defineRoute(
    {
      method: "DELETE",
      path: "/v1/me/sessions/:id",
      access: [],
      operationId: "endOwnSession",
      isStop: true,
      tag: "Sessions",
      summary: "End one of the caller's sessions",
      description: "Its tokens become invalid everywhere within 5 seconds.",
      params: SessionPath,
      success: { status: 204, schema: Type.Null(), description: "The session has ended." },
      errors: ["PERSON_NOT_FOUND", "SESSION_NOT_FOUND"],
    },
    async (request, reply) => {
      const origin = originOf(request);
      unwrap(await endSessionsOf(origin, origin.principal.clientId, sessionIdOf(request.params)));
      return reply.code(204).send();
    },
  );
}

export function listSessionsOfPerson({ listSessions }: Pick<UseCases, "listSessions">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/people/:id/sessions",
      access: "clients:manage",
      operationId: "listSessionsOfPerson",
      tag: "Sessions",
      summary: "List the open sessions of a person",
      description: "Sessions that have ended or expired are not listed.",
      params: PersonPath,
      success: { status: 200, schema: SessionList, description: "The sessions, newest first." },
      errors: ["PERSON_NOT_FOUND"],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      return { data: unwrap(await listSessions(tenantId, personIdOf(request.params))).map(presentSession) };
    },
  );
}

export function endSessionsOfPerson({ endSessionsOf }: Pick<UseCases, "endSessionsOf">) {
  return defineRoute(
    {
      method: "DELETE",
      path: "/v1/people/:id/sessions",
      access: "clients:manage",
      operationId: "endSessionsOfPerson",
      isStop: true,
      tag: "Sessions",
      summary: "End all sessions of a person",
      description:
        "Their tokens become invalid everywhere within 5 seconds. The person can log in again. The caller must hold every scope of the person. If the person is protected, an approved change request does it: `client.change` with the state `disabled`, or `person.recover`.",
      params: PersonPath,
      success: { status: 204, schema: Type.Null(), description: "The sessions have ended." },
      errors: ["CHANGE_REQUEST_REQUIRED", "PERSON_NOT_FOUND", "CLIENT_TAMPERED"],
    },
    async (request, reply) => {
      unwrap(await endSessionsOf(originOf(request), personIdOf(request.params), undefined));
      return reply.code(204).send();
    },
  );
}
