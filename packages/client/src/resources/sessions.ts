import type {
  AddPasskeyBody,
  FinishProviderLoginBody,
  OpenSessionBody,
  RegisterPasskeyBody,
  RegistrationOptionsBody,
  RenamePasskeyBody,
} from "../generated/schemas.js";
import type { CallOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

/** The sessions of people. */
export function createSessions(transport: Transport) {
  return {
    listOwn: (options?: CallOptions) => transport.call("GET /v1/me/sessions", {}, options),
    endOwn: (id: string, options?: CallOptions) =>
      transport.call("DELETE /v1/me/sessions/{id}", { path: { id } }, options),
    list: (personId: string, options?: CallOptions) =>
      transport.call("GET /v1/people/{id}/sessions", { path: { id: personId } }, options),
    endAll: (personId: string, options?: CallOptions) =>
      transport.call("DELETE /v1/people/{id}/sessions", { path: { id: personId } }, options),
  };
}

/** The passkeys of the person who calls. */
export function createOwnPasskeys(transport: Transport) {
  return {
    list: (options?: CallOptions) => transport.call("GET /v1/me/passkeys", {}, options),
    prepare: (options?: CallOptions) => transport.call("POST /v1/me/passkeys/options", {}, options),
    add: (body: AddPasskeyBody, options?: CallOptions) =>
      transport.call("POST /v1/me/passkeys", { body }, options),
    rename: (id: string, body: RenamePasskeyBody, options?: CallOptions) =>
      transport.call("PATCH /v1/me/passkeys/{id}", { path: { id }, body }, options),
    remove: (id: string, options?: CallOptions) =>
      transport.call("DELETE /v1/me/passkeys/{id}", { path: { id } }, options),
  };
}

/** For pages of the service itself: browsers send the cookie of a session only from there. */
export function createConsoleSession(transport: Transport) {
  return {
    challenge: (options?: CallOptions) =>
      transport.call("POST /console/session/challenge", { anonymous: true }, options),
    prepareRegistration: (body: RegistrationOptionsBody, options?: CallOptions) =>
      transport.call("POST /console/session/registration-options", { body, anonymous: true }, options),
    register: (body: RegisterPasskeyBody, options?: CallOptions) =>
      transport.call("POST /console/session/registration", { body, anonymous: true }, options),
    open: (body: OpenSessionBody, options?: CallOptions) =>
      transport.call("POST /console/session", { body, anonymous: true }, options),
    beginProviderLogin: (options?: CallOptions) =>
      transport.call("POST /console/session/oidc", { anonymous: true }, options),
    finishProviderLogin: (body: FinishProviderLoginBody, options?: CallOptions) =>
      transport.call("POST /console/session/oidc/callback", { body, anonymous: true }, options),
    token: (options?: CallOptions) =>
      transport.call("POST /console/session/token", { anonymous: true }, options),
    end: (options?: CallOptions) => transport.call("DELETE /console/session", { anonymous: true }, options),
  };
}
