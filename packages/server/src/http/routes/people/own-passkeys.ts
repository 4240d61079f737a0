import {
  AddPasskeyBody,
  Passkey,
  PasskeyList,
  PasskeyPath,
  RegistrationOptions,
  RenamePasskeyBody,
} from "@bursar/protocol";
import { Type } from "typebox";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, principalOf, unwrap } from "../../access/guard.js";
import { passkeyIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentOptions } from "../sessions/present-session.js";
import { presentPasskey } from "./present-person.js";

const common = { access: [], tag: "Sessions" } as const;

export function listOwnPasskeys({ listOwnPasskeys: list }: Pick<UseCases, "listOwnPasskeys">) {
  return defineRoute(
    {
      ...common,
      method: "GET",
      path: "/v1/me/passkeys",
      operationId: "listOwnPasskeys",
      summary: "List the caller's passkeys",
      description: "A program has none.",
      success: { status: 200, schema: PasskeyList, description: "The passkeys, oldest first." },
      errors: [],
    },
    async (request) => {
      const { tenantId, clientId } = principalOf(request).principal;
      return { data: (await list(tenantId, clientId)).map(presentPasskey) };
    },
  );
}

export function prepareOwnPasskey({ prepareOwnPasskey: prepare }: Pick<UseCases, "prepareOwnPasskey">) {
  return defineRoute(
    {
      ...common,
      method: "POST",
      path: "/v1/me/passkeys/options",
      operationId: "prepareOwnPasskey",
      summary: "Get what is needed to create another passkey",
      description: "The challenge is valid for 5 minutes.",
      success: { status: 200, schema: RegistrationOptions, description: "What the browser needs." },
      errors: ["PERSON_NOT_FOUND"],
    },
    async (request) => presentOptions(unwrap(await prepare(originOf(request)))),
  );
}

export function addOwnPasskey({ addOwnPasskey: add }: Pick<UseCases, "addOwnPasskey">) {
  return defineRoute(
    {
      ...common,
      method: "POST",
      path: "/v1/me/passkeys",
      operationId: "addOwnPasskey",
      passkey: true,
      summary: "Add a passkey of the caller",
      description:
        "Confirmed with a passkey that the caller has. A repeated request adds nothing. A person has at most 10.",
      body: AddPasskeyBody,
      bodyBytesMax: 131_072,
      success: { status: 201, schema: Passkey, description: "The passkey." },
      errors: ["PERSON_NOT_FOUND", "KEY_LIMIT_REACHED", "PASSKEY_IN_USE", "CLIENT_TAMPERED"],
    },
    async (request, reply) => {
      const { name, ...attestation } = request.body;
      const key = unwrap(await add(originOf(request), name, attestation));
      reply.code(201);
      return presentPasskey(key);
    },
  );
}

export function renameOwnPasskey({ renameOwnPasskey: rename }: Pick<UseCases, "renameOwnPasskey">) {
  return defineRoute(
    {
      ...common,
      method: "PATCH",
      path: "/v1/me/passkeys/:id",
      operationId: "renameOwnPasskey",
      passkey: true,
      summary: "Rename a passkey of the caller",
      description:
        "Confirmed with a passkey that the caller has: a stolen access token could otherwise swap the names, and the person would remove the wrong one.",
      params: PasskeyPath,
      body: RenamePasskeyBody,
      success: { status: 200, schema: Passkey, description: "The passkey." },
      errors: ["PERSON_NOT_FOUND", "CREDENTIAL_NOT_FOUND", "CLIENT_TAMPERED"],
    },
    async (request) =>
      presentPasskey(unwrap(await rename(originOf(request), passkeyIdOf(request.params), request.body.name))),
  );
}

export function removeOwnPasskey({ removeOwnPasskey: remove }: Pick<UseCases, "removeOwnPasskey">) {
  return defineRoute(
    {
      ...common,
      method: "DELETE",
      path: "/v1/me/passkeys/:id",
      operationId: "removeOwnPasskey",
      passkey: true,
      isStop: true,
      summary: "Remove a passkey of the caller",
      description:
        "Confirmed with a passkey that the caller has. The sessions that were opened with the removed one end within 5 seconds. The last passkey cannot be removed.",
      params: PasskeyPath,
      success: { status: 204, schema: Type.Null(), description: "The passkey is removed." },
      errors: ["PERSON_NOT_FOUND", "CREDENTIAL_NOT_FOUND", "PASSKEY_IS_LAST", "CLIENT_TAMPERED"],
    },
    async (request, reply) => {
      unwrap(await remove(originOf(request), passkeyIdOf(request.params)));
      return reply.code(204).send();
    },
  );
}
