import { createChallenges } from "../../app/people/challenges.js";
import { consoleAddressOf } from "../../app/people/console-address.js";
import { createOwnPasskeyService, type OwnPasskeyService } from "../../app/people/own-passkeys.js";
import { createPeopleService, type PeopleService } from "../../app/people/people-service.js";
import { createProviderPeople, type ProviderPeopleDeps } from "../../app/people/provider-people.js";
import { createRoleService, type RoleService } from "../../app/people/role.js";
import {
  createSessionService,
  type SessionService,
  type SessionServiceDeps,
} from "../../app/people/session-service.js";
import { createStepUp, type VerifyPasskey } from "../../app/people/step-up.js";
import { createPasskeyVerifier } from "../../credentials/passkey-verifier.js";
import { createBoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import { createTenantStore } from "../../store/access/clients.js";
import { createRoleStore } from "../../store/access/people/roles.js";
import { createSessionStore } from "../../store/access/people/sessions.js";
import { createTenantSuspensionStore } from "../../store/access/tenant-suspension.js";
import type { ComposeOptions } from "../compose.js";
import { secretContexts } from "../secret-contexts.js";
import { composeOidc } from "./compose-oidc.js";

export type PeopleUseCases = PeopleService & RoleService & SessionService & OwnPasskeyService;

type PeopleParts = Omit<ProviderPeopleDeps, "roles"> &
  Pick<SessionServiceDeps, "nonces" | "tokens" | "uses" | "addresses" | "audit" | "takeQuota"> & {
    checks: Parameters<typeof createBoundedGate>[0];
    knownChecks: Parameters<typeof createBoundedGate>[0];
    signatureChecks: Parameters<typeof createBoundedGate>[0];
  };

/** A confirmation takes about a millisecond on another thread, of which there are four. */
const confirmations = {
  ...{ concurrentMax: 2, concurrentOfKeyMax: 1 },
  ...{ waitingMax: 1000, waitingOfKeyMax: 100, waitingOfMemberMax: 20 },
};

/** People, their roles, passkeys and sessions. */
export function composePeople(
  { database, sealing, publicUrl, settings, newUuid, now, log }: ComposeOptions,
  { checks, knownChecks, signatureChecks, ...parts }: PeopleParts,
): { useCases: PeopleUseCases; verifyPasskey: VerifyPasskey } {
  const roles = createRoleStore(database);
  const consoleAddress = () => consoleAddressOf(publicUrl);
  const passkeys = createPasskeyVerifier(consoleAddress);
  const challenges = createChallenges({
    seal: (content) => sealing.seal(secretContexts.passkeyChallenge, content),
    open: (sealed) => sealing.open(secretContexts.passkeyChallenge, sealed),
    newUuid,
    now,
  });
  const useCases = {
    ...createPeopleService({ ...parts, roles }),
    ...createOwnPasskeyService({ ...parts, passkeys, challenges, consoleAddress }),
    ...createRoleService({ roles, now }),
    ...createSessionService({
      ...parts,
      sessions: createSessionStore(database),
      passkeys,
      challenges,
      checks: createBoundedGate(checks),
      knownChecks: createBoundedGate(knownChecks),
      signatureChecks: createBoundedGate(signatureChecks),
      providerCalls: createBoundedGate(checks),
      oidc: composeOidc(settings, {
        people: createProviderPeople({ ...parts, roles }),
        sealing,
        consoleAddress,
        now,
        log,
      }),
      tenants: createTenantStore(database),
      isSuspended: createTenantSuspensionStore(database).isSuspended,
      consoleAddress,
    }),
  };
  return {
    useCases,
    verifyPasskey: createStepUp({ ...parts, passkeys, checks: createBoundedGate(confirmations) }),
  };
}
