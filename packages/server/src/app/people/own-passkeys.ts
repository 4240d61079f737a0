import type { ClientOrigin } from "../audit/audit-entry.js";
import { applyClientChange } from "../clients/apply-client-change.js";
import type { ApiClient, ClientChange, ClientKey } from "../clients/client.js";
import type { ClientDeps } from "../clients/client-service.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { Challenges } from "./challenges.js";
import type { ConsoleAddress } from "./console-address.js";
import { isActive } from "./log-in.js";
import {
  type Attestation,
  findPasskey,
  newPasskeyKey,
  type PasskeyVerifier,
  passkeysMax,
  readPasskey,
  writePasskey,
} from "./passkey.js";
import type { PersonClient } from "./people-service.js";
import type { RegistrationOptions } from "./session-service.js";

/**
 * What a person does with their own passkeys. To add and to remove one, the person confirms with a passkey that they have, so nobody can act
 * as the person afterwards who could not before: it is no change of authority.
 */
export interface OwnPasskeyService {
  /** None for a program. */
  listOwnPasskeys: (tenantId: string, clientId: string) => Promise<readonly ClientKey[]>;
  prepareOwnPasskey: (origin: ClientOrigin) => Promise<RegistrationOptions | Refused>;
  /** Returns the passkey that is there already if the same one is added again. */
  addOwnPasskey: (
    origin: ClientOrigin,
    name: string,
    attestation: Attestation,
  ) => Promise<ClientKey | Refused>;
  renameOwnPasskey: (origin: ClientOrigin, id: string, name: string) => Promise<ClientKey | Refused>;
  /** Never the last one: without a passkey, nobody could log in. */
  removeOwnPasskey: (origin: ClientOrigin, id: string) => Promise<Refused | undefined>;
}

export interface OwnPasskeyDeps extends ClientDeps {
  passkeys: PasskeyVerifier;
  challenges: Challenges;
  consoleAddress: () => ConsoleAddress;
}

const notFound: Refused = { refused: "CREDENTIAL_NOT_FOUND" };

export function createOwnPasskeyService(deps: OwnPasskeyDeps): OwnPasskeyService {
  const findSelf = async ({ principal }: ClientOrigin): Promise<PersonClient | Refused> => {
    const client = await deps.clients.findClientOfTenant(principal.tenantId, principal.clientId);
    return client !== undefined && isActive(client) ? client : { refused: "PERSON_NOT_FOUND" };
  };
  const change = (
    origin: ClientOrigin,
    action: string,
    decide: (self: ApiClient) => ClientChange | Refused,
  ) =>
    applyClientChange(deps, origin, origin.principal.clientId, action, decide, {
      refuse: (client) => (isActive(client) ? undefined : { refused: "PERSON_NOT_FOUND" }),
      keepsAuthority: true,
    });
  return {
    listOwnPasskeys: async (tenantId, clientId) =>
      passkeysOf(await deps.clients.findClientOfTenant(tenantId, clientId)),
    prepareOwnPasskey: async (origin) => {
      const person = await findSelf(origin);
      if (isRefused(person)) return person;
      const challenge = deps.challenges.issue(purposeOf(person.id));
      return { challenge, rpId: deps.consoleAddress().rpId, person };
    },
    addOwnPasskey: async (origin, name, attestation) => {
      const self = await findSelf(origin);
      if (isRefused(self)) return self;
      const isChallenge = (challenge: string) =>
        deps.challenges.verify(challenge, purposeOf(self.id)) !== undefined;
      const made = await deps.passkeys.verifyRegistration(attestation, isChallenge);
      if (made === undefined) return { refused: "PASSKEY_INVALID" };
      const key = newPasskeyKey(deps, self.id, writePasskey({ ...made, name }));
      const added = await change(origin, "passkey.add", (current) => {
        if (findPasskey(current.keys, made.credentialId) !== undefined) return {};
        return current.keys.length >= passkeysMax ? { refused: "KEY_LIMIT_REACHED" } : { addKey: key };
      });
      if (isRefused(added)) return added;
      return findPasskey(added.keys, made.credentialId)?.key ?? key;
    },
    renameOwnPasskey: async (origin, id, name) => {
      const renamed = await change(origin, "passkey.rename", (current) => {
        const key = current.keys.find((one) => one.id === id);
        if (key === undefined) return notFound;
        return { setKeyMaterial: { id, material: writePasskey({ ...readPasskey(key), name }) } };
      });
      if (isRefused(renamed)) return renamed;
      return renamed.keys.find((key) => key.id === id) ?? notFound;
    },
    removeOwnPasskey: async (origin, id) => {
      const removed = await change(origin, "passkey.remove", ({ keys }) => {
        if (!keys.some((key) => key.id === id)) return notFound;
        return keys.length === 1 ? { refused: "PASSKEY_IS_LAST" } : { removeKeyIds: [id] };
      });
      return isRefused(removed) ? removed : undefined;
    },
  };
}

function passkeysOf(client: ApiClient | undefined): readonly ClientKey[] {
  return client !== undefined && client.person !== null ? client.keys : [];
}

const purposeOf = (personId: string) => `add ${personId}`;
