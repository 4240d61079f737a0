import {
  LoginChallenge,
  OpenedSession,
  OpenSessionBody,
  RegisterPasskeyBody,
  RegistrationOptions,
  RegistrationOptionsBody,
  SessionToken,
} from "@bursar/protocol";
import { Type } from "typebox";
import type { UseCases } from "../../../app/use-cases.js";
import { unwrap } from "../../access/guard.js";
import { callerOf, clearCookie, readCookie, setCookie } from "../../console/session-request.js";
import { defineRoute } from "../../route.js";
import { presentPerson } from "../people/present-person.js";
import { presentOptions, presentSession } from "./present-session.js";

/** The routes of the console's session. They alone read its cookie, and only for pages of the service itself. */
const common = { method: "POST", access: "open", tag: "Sessions" } as const;
const always = ["ORIGIN_REFUSED", "RATE_LIMITED", "UNAVAILABLE"] as const;

export function challengeLogin({ loginChallenge }: Pick<UseCases, "loginChallenge">, publicUrl: string) {
  return defineRoute(
    {
      ...common,
      path: "/console/session/challenge",
      operationId: "challengeLogin",
      summary: "Get a challenge to log in with a passkey",
      description: "It does not depend on who asks: the passkey says who logs in.",
      success: { status: 200, schema: LoginChallenge, description: "What the browser needs." },
      errors: [...always],
    },
    async (request) => {
      callerOf(request, publicUrl);
      const { challenge, rpId, hasProvider } = loginChallenge();
      return { challenge, rp_id: rpId, provider: hasProvider };
    },
  );
}

export function prepareRegistration(
  { registrationOptions }: Pick<UseCases, "registrationOptions">,
  publicUrl: string,
) {
  return defineRoute(
    {
      ...common,
      path: "/console/session/registration-options",
      operationId: "prepareRegistration",
      summary: "Get what is needed to register a passkey",
      description:
        "The challenge is valid for 5 minutes. The invitation stays valid until a passkey is registered with it.",
      body: RegistrationOptionsBody,
      success: { status: 200, schema: RegistrationOptions, description: "What the browser needs." },
      errors: [...always, "INVITATION_INVALID"],
    },
    async (request) => {
      const options = await registrationOptions(request.body.invitation, callerOf(request, publicUrl));
      return presentOptions(unwrap(options));
    },
  );
}

export function registerPasskey(
  { registerPasskey: register }: Pick<UseCases, "registerPasskey">,
  publicUrl: string,
) {
  return defineRoute(
    {
      ...common,
      path: "/console/session/registration",
      operationId: "registerPasskey",
      summary: "Register a passkey with an invitation, and log in",
      description: "The invitation is used up.",
      body: RegisterPasskeyBody,
      bodyBytesMax: 131_072,
      success: { status: 201, schema: OpenedSession, description: "The session that was opened." },
      errors: [
        ...always,
        "INVITATION_INVALID",
        "PASSKEY_INVALID",
        "KEY_LIMIT_REACHED",
        "PASSKEY_IN_USE",
        "CLIENT_TAMPERED",
        "CONCURRENCY_LIMITED",
      ],
    },
    async (request, reply) => {
      const { invitation, name, ...attestation } = request.body;
      const opened = unwrap(await register(invitation, name, attestation, callerOf(request, publicUrl)));
      setCookie(reply, opened.cookie);
      reply.code(201);
      return { ...presentSession(opened.session), person: presentPerson(opened.person) };
    },
  );
}

export function openSession({ openSession: open }: Pick<UseCases, "openSession">, publicUrl: string) {
  return defineRoute(
    {
      ...common,
      path: "/console/session",
      operationId: "openSession",
      summary: "Log in with a passkey",
      description: "Always opens a new session. A cookie that is sent with it is ignored.",
      body: OpenSessionBody,
      success: { status: 201, schema: OpenedSession, description: "The session that was opened." },
      errors: [...always, "PASSKEY_INVALID", "CLIENT_TAMPERED", "CONCURRENCY_LIMITED"],
    },
    async (request, reply) => {
      const { user_handle, ...assertion } = request.body;
      const opened = unwrap(await open(user_handle, assertion, callerOf(request, publicUrl)));
      setCookie(reply, opened.cookie);
      reply.code(201);
      return { ...presentSession(opened.session), person: presentPerson(opened.person) };
    },
  );
}

export function issueSessionToken(
  { issueSessionToken: issue }: Pick<UseCases, "issueSessionToken">,
  publicUrl: string,
) {
  return defineRoute(
    {
      ...common,
      path: "/console/session/token",
      operationId: "issueSessionToken",
      summary: "Get an access token for the session",
      description: "It is valid for 5 minutes. The page keeps it in memory.",
      success: { status: 200, schema: SessionToken, description: "The access token." },
      errors: [...always, "SESSION_REQUIRED", "TENANT_SUSPENDED"],
    },
    async (request) => {
      const issued = unwrap(await issue(readCookie(request), callerOf(request, publicUrl)));
      const { token, claims, session, person } = issued;
      return {
        access_token: token,
        token_type: "Bearer" as const,
        expires_in: (claims.expiresAtMs - claims.issuedAtMs) / 1000,
        scope: claims.scopes.join(" "),
        session: presentSession(session),
        person: presentPerson(person),
      };
    },
  );
}

export function endSession({ endSession: end }: Pick<UseCases, "endSession">, publicUrl: string) {
  return defineRoute(
    {
      ...common,
      method: "DELETE",
      path: "/console/session",
      operationId: "endSession",
      summary: "Log out",
      description: "Ends the session of the cookie. Its tokens become invalid everywhere within 5 seconds.",
      success: { status: 204, schema: Type.Null(), description: "The session has ended." },
      errors: [...always, "SESSION_REQUIRED", "TENANT_SUSPENDED"],
    },
    async (request, reply) => {
      unwrap(await end(readCookie(request), callerOf(request, publicUrl)));
      clearCookie(reply);
      return reply.code(204).send();
    },
  );
}
