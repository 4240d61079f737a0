import { FinishProviderLoginBody, OpenedSession, ProviderLogin } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { unwrap } from "../../access/guard.js";
import { callerOf, readProviderCookie, setCookie, setProviderCookie } from "../../console/session-request.js";
import { defineRoute } from "../../route.js";
import { presentPerson } from "../people/present-person.js";
import { presentSession } from "./present-session.js";

const common = { method: "POST", access: "open", tag: "Sessions" } as const;
const always = ["ORIGIN_REFUSED", "RATE_LIMITED", "UNAVAILABLE", "OIDC_UNAVAILABLE"] as const;

export function beginProviderLogin(
  { beginProviderLogin: begin }: Pick<UseCases, "beginProviderLogin">,
  publicUrl: string,
) {
  return defineRoute(
    {
      ...common,
      path: "/console/session/oidc",
      operationId: "beginProviderLogin",
      summary: "Begin to log in with the OpenID provider",
      description: "A cookie remembers the login for 10 minutes.",
      success: { status: 200, schema: ProviderLogin, description: "Where the browser goes." },
      errors: [...always],
    },
    async (request, reply) => {
      const { url, cookie } = unwrap(await begin(callerOf(request, publicUrl)));
      setProviderCookie(reply, cookie);
      return { url };
    },
  );
}

export function finishProviderLogin(
  { finishProviderLogin: finish }: Pick<UseCases, "finishProviderLogin">,
  publicUrl: string,
) {
  return defineRoute(
    {
      ...common,
      path: "/console/session/oidc/callback",
      operationId: "finishProviderLogin",
      summary: "Log in with the answer of the OpenID provider",
      description:
        "The page that the provider sends the browser to, `/console/oidc`, sends its query here. It works once, in the browser that began the login.",
      body: FinishProviderLoginBody,
      success: { status: 201, schema: OpenedSession, description: "The session that was opened." },
      errors: [
        ...always,
        "OIDC_REFUSED",
        "OIDC_NO_ROLE",
        "ROLE_NOT_FOUND",
        "TENANT_SUSPENDED",
        "CLIENT_TAMPERED",
        "CONCURRENCY_LIMITED",
      ],
    },
    async (request, reply) => {
      const from = callerOf(request, publicUrl);
      const opened = unwrap(await finish(request.body.parameters, readProviderCookie(request), from));
      setCookie(reply, opened.cookie);
      reply.code(201);
      return { ...presentSession(opened.session), person: presentPerson(opened.person) };
    },
  );
}
