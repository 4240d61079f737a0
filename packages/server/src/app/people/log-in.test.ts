import { createHash } from "node:crypto";
import { showId } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import type { AuditDraft } from "../audit/audit-entry.js";
import type { ApiClient } from "../clients/client.js";
import { hashSecret } from "../clients/client-secret.js";
import { logIn, registerPasskey, userHandleOf } from "./log-in.js";
import { passkeysMax, writePasskey } from "./passkey.js";
import type { SessionServiceDeps } from "./session-service.js";

const keys = { currentId: "one", derive: (label: string) => createHash("sha256").update(label).digest() };
const personId = "01890a5d-ac96-774b-bcce-b302099a8057";
const from = { requestId: "req", address: "192.0.2.7" };
const passkey = { credentialId: "cred", publicKey: "", counter: 7, name: "Key" };
const key = { id: "k", algorithm: "passkey", material: writePasskey(passkey) };
const invited = {
  ...{ id: personId, tenantId: "t", state: "active", person: {}, scopes: [], controllers: [] },
  ...{ keys: [], authorityChangedBy: null },
  secrets: [{ id: "s", ...hashSecret(keys, "right"), expiresAt: null }],
} as unknown as ApiClient;

/** The database has this row when it is found, and that one when it is locked. */
function createWorld(found: ApiClient, locked: ApiClient) {
  const recorded: AuditDraft[] = [];
  const deps = {
    keys,
    now: () => 0,
    newUuid: () => "k2",
    audit: { record: (draft: AuditDraft) => recorded.push(draft) },
    isSuspended: async () => false,
    challenges: { verify: () => ({ id: "c", expiresAt: new Date(1) }) },
    nonces: { useNonce: async () => true },
    passkeys: {
      verifyRegistration: async () => passkey,
      verifyAssertion: async (_: unknown, isChallenge: (challenge: string) => boolean) =>
        isChallenge("c") ? { counter: 5 } : undefined,
    },
    changes: (_: string, act: () => unknown) => act(),
    access: { forget: () => undefined },
    clients: {
      findClient: async () => found,
      changeClient: async (
        _tenant: string,
        _id: string,
        decide: (client: ApiClient, facts: object) => unknown,
      ) => decide(locked, { isNamed: false }),
    },
  } as unknown as SessionServiceDeps;
  return { deps, recorded };
}

const attempt = { tenantId: "t", actor: "anonymous", outcome: "refused", address: from.address };

describe("the audit log has", () => {
  it.each([
    ["INVITATION_INVALID", "of a link that was used meanwhile", { ...invited, secrets: [] }],
    [
      "KEY_LIMIT_REACHED",
      "of a person with too many passkeys",
      { ...invited, keys: Array(passkeysMax).fill(key) },
    ],
  ])("the refusal %s %s", async (code, _when, locked) => {
    const { deps, recorded } = createWorld(invited, locked as ApiClient);
    const link = `${showId("cli", personId)}.right`;
    expect(await registerPasskey(deps, link, "Laptop", {} as never, from)).toMatchObject({ refused: code });
    expect(recorded).toMatchObject([
      { ...attempt, action: "passkey.register", object: showId("cli", personId), code },
    ]);
  });

  it("a login with a passkey whose counter has gone back", async () => {
    const person = { ...invited, keys: [key] } as unknown as ApiClient;
    const { deps, recorded } = createWorld(person, person);
    const login = logIn(deps, userHandleOf(personId), { id: "cred" } as never, from);
    expect(await login).toMatchObject({ refused: "PASSKEY_INVALID" });
    expect(recorded).toMatchObject([
      { ...attempt, action: "session.open", object: showId("cli", personId), code: "PASSKEY_INVALID" },
    ]);
  });
});
