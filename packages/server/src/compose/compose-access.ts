import { randomBytes, randomUUID } from "node:crypto";
import { createClientAuthenticator } from "../app/access/authenticate-client.js";
import { createRequestAuthenticator } from "../app/access/authenticate-request.js";
import { createFailureThrottle } from "../app/access/failure-throttle.js";
import { createOAuthService, type OAuthService } from "../app/access/oauth-service.js";
import { createMeShower } from "../app/access/show-me.js";
import { createStreamTickets, type IssueTicket } from "../app/access/stream-tickets.js";
import type { RevocationStore } from "../app/access/tokens.js";
import { createRequestSignatureVerifier } from "../app/access/verify-request-signature.js";
import { createAuditRecorder, type WriteFailure } from "../app/audit/audit-recorder.js";
import { createAuditList } from "../app/audit/entry-authenticity.js";
import type { ClientAccess, ClientAccessCache, ClientStore } from "../app/clients/client.js";
import { type ClientCredentials, createClientCredentials } from "../app/clients/client-credentials.js";
import {
  type ClientService,
  type ClientServiceDeps,
  createClientService,
} from "../app/clients/client-service.js";
import { createCredentialUses } from "../app/clients/credential-uses.js";
import { createClientTamperReports } from "../app/clients/tampered-clients.js";
import { type AddressQuota, createAddressQuota } from "../app/quotas/address-quota.js";
import { createFilePace } from "../app/quotas/file-pace.js";
import type { LoadShedder } from "../app/quotas/load-shedder.js";
import { createQuotaKeeper, type QuotaKeeper } from "../app/quotas/quota-keeper.js";
import { takeQuota } from "../app/quotas/take-quota.js";
import type { UseCases } from "../app/use-cases.js";
import { createAssertionVerifier } from "../credentials/client-assertion.js";
import { isEd25519PublicKey } from "../credentials/ed25519-point.js";
import type { Sealing } from "../credentials/sealing.js";
import { createTicketSigner } from "../credentials/ticket-signer.js";
import { createTokenKeyRing, prepareTokenKeys } from "../credentials/token-keys.js";
import { createTokenSigner } from "../credentials/token-signer.js";
import type { AccessGuard } from "../http/access/guard.js";
import { createBoundedGate } from "../runtime/concurrency/bounded-gate.js";
import { createKeyedMutex } from "../runtime/concurrency/keyed-mutex.js";
import { createYieldingTurns } from "../runtime/concurrency/yielding-turns.js";
import { createFreshCache } from "../runtime/fresh-cache.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import type { Metric } from "../runtime/metric.js";
import { createAuditStore } from "../store/access/audit.js";
import { createClientStore, createTenantStore } from "../store/access/clients.js";
import { writeCredentialUses } from "../store/access/credential-uses.js";
import { createQuotaStore } from "../store/access/quotas.js";
import { createTenantSuspensionStore } from "../store/access/tenant-suspension.js";
import { createNonceStore, createRevocationStore, createTokenKeyStore } from "../store/access/tokens.js";
import {
  type Database,
  isDatabaseUnavailable,
  isStatementTimeout,
  requireKeys,
} from "../store/core/database.js";
import { OutcomeUnknownError } from "../store/core/database-unavailable-error.js";
import { addressQuotaOf, defaultQuotasOf, fileQuotaOf, multiply } from "./access/configured-quotas.js";
import { createUnreadableKeys } from "./access/unreadable-keys.js";
import type { ComposeOptions } from "./compose.js";
import { createStops } from "./create-stops.js";
import { composePeople, type PeopleUseCases } from "./people/compose-people.js";
import { secretContexts } from "./secret-contexts.js";

type AccessUseCases = OAuthService &
  ClientService &
  ClientCredentials &
  PeopleUseCases &
  Pick<UseCases, "listTokenKeys" | "listAudit" | "findAuditRemovedTo" | "showMe" | "awaitTurn">;

/** Access control: clients, their secrets, keys and tokens, quotas, and the audit log. */
export interface AccessParts {
  useCases: AccessUseCases;
  guard: AccessGuard;
  quotas: QuotaKeeper;
  addresses: AddressQuota;
  metrics: readonly Metric[];
  issueStreamTicket: IssueTicket;
  unreadableTokenKeys: () => readonly string[];
  /** The clients as requests see them: at most a few seconds old. */
  clients: ClientAccessCache;
  /** Called once, after the migrations. */
  prepare: () => Promise<void>;
  close: () => Promise<void>;
}

/**
 * Fewer than the connections to the database. Address blocks take turns, so a flood from one delays a client elsewhere by one check. Only
 * 2000 blocks at once fill the queue for another one. Proofs that match what was last read of their client have checks of their own.
 */
const proofChecks = { concurrentMax: 4, waitingMax: 2000, waitingOfKeyMax: 100 };
/** One client, or one person, whose check waits for a lock does not hold up the others. */
const knownProofChecks = { concurrentMax: 3, concurrentOfKeyMax: 1, waitingMax: 2000, waitingOfKeyMax: 20 };
/** A signature takes about 300 µs on another thread: the last one of an address block waits for a third of a second. */
const signatureChecks = { concurrentMax: 4, waitingMax: 4000, waitingOfKeyMax: 1000 };

/** A change takes 3 to 15 ms, so the last one in the queue waits for about a second. */
const clientChangesWaitingMax = 100;

/** A statement that takes too long may wait for the chain of one tenant. */
/** More than a process has requests under way. */
const batchesWaitingMax = 100_000;

function classifyAuditFailure(error: unknown): WriteFailure {
  if (error instanceof OutcomeUnknownError) return "unknown";
  return isDatabaseUnavailable(error) && !isStatementTimeout(error) ? "unavailable" : "failed";
}

export function composeAccess(
  options: ComposeOptions,
  { shedder, onStateChanged }: Pick<ClientServiceDeps, "onStateChanged"> & { shedder: LoadShedder },
): AccessParts {
  const { database, sealing, publicUrl, settings, log, newUuid, now } = options;
  const keys = requireKeys(database);
  const clients = createClientStore(database, settings["oidc.issuer"]);
  const revocations = createRevocationStore(database);
  const nonces = createNonceStore(database);
  const tokenKeyStore = createTokenKeyStore(database);
  const auditStore = createAuditStore(database);
  const unreadable = createUnreadableKeys(log);
  const tokenKeys = createTokenKeyRing(tokenKeyStore, sealing, now, () => performance.now(), unreadable.see);
  const tokens = createTokenSigner({ keys: tokenKeys, issuer: publicUrl, now });
  const defaultQuotas = defaultQuotasOf(settings);
  const addresses = createAddressQuota(addressQuotaOf(settings), () => performance.now());
  const audit = createAuditRecorder({
    store: auditStore,
    classify: classifyAuditFailure,
    onError: (error, lost) => log.error({ err: error, lost }, "audit entries could not be written"),
    // Random, because the database's clock is not known yet.
    writerId: randomUUID(),
    now,
  });
  const tampered = createClientTamperReports({
    audit,
    onTampered: (client) =>
      log.error(
        { client },
        "The database row of a client or of its credentials was changed by something other than Bursar. The client is refused.",
      ),
    now,
  });
  const findClient = async (id: string) => tampered.watch(await clients.findClient(id));
  const access = cacheClientAccess(database, findClient, revocations);
  database.identity.subscribe(() => {
    access.clear();
    tokenKeys.clear();
  });
  const authenticator = createRequestAuthenticator({ addresses, tokens, clients: access, now });
  const uses = createCredentialUses({
    write: (used) => writeCredentialUses(database, used),
    onError: (error) => log.warn({ err: error }, "the use of credentials could not be written"),
    now,
  });
  const quotas = createQuotaKeeper({
    store: createQuotaStore(database),
    defaults: defaultQuotas,
    tenantDefaults: multiply(defaultQuotas, settings["quotas.tenant_multiple"]),
    monotonicMs: () => performance.now(),
    timers: nodeTimers,
  });
  const tickets = createStreamTickets({
    signer: createTicketSigner(sealing),
    authenticator,
    nonces,
    newUuid,
    now,
  });
  const changes = createKeyedMutex(clientChangesWaitingMax);
  const deps = { clients, keys, access, changes, defaultQuotas, newUuid, randomBytes, now };
  const clientsMax = settings["limits.clients_per_tenant"];
  const serviceDeps = {
    ...deps,
    clientsMax,
    stopInAnyCase: createStops(options),
    recorder: audit,
    onStateChanged,
  };
  // Without a token a client could stop nothing.
  const takeTokenQuota = (client: Parameters<QuotaKeeper["of"]>[0]) =>
    takeQuota(quotas.of(client), { quotaClass: "auth", canStop: true }, performance.now(), 1);
  const shared = { nonces, tokens, uses, addresses, audit, takeQuota: takeTokenQuota };
  const gates = { checks: proofChecks, knownChecks: knownProofChecks, signatureChecks };
  const turns = createYieldingTurns(batchesWaitingMax, {
    restPerWork: shedder.restPerWork,
    monotonicMs: () => performance.now(),
    timers: nodeTimers,
  });
  const people = composePeople(options, {
    ...{ ...serviceDeps, ...shared, ...gates },
    reportTampered: tampered.report,
  });
  const useCases: AccessUseCases = {
    ...createOAuthService({
      authenticateClient: createClientAuthenticator({
        clients: { findClient },
        keys,
        uses,
        assertions: createAssertionVerifier({ audience: publicUrl, now }),
        nonces,
        throttle: createFailureThrottle(() => performance.now()),
        checks: createBoundedGate(proofChecks),
        knownChecks: createBoundedGate(knownProofChecks),
        signatureChecks: createBoundedGate(signatureChecks),
        now,
      }),
      tokens,
      revocations,
      access,
      authenticator,
      takeQuota: takeTokenQuota,
      isSuspended: createTenantSuspensionStore(database).isSuspended,
      audit,
      newUuid,
      now,
    }),
    ...createClientService(serviceDeps),
    ...people.useCases,
    ...createClientCredentials({
      ...deps,
      sealSecret: (id, secret) => sealing.seal(secretContexts.clientKey(id), secret),
      isPublicKey: isEd25519PublicKey,
    }),
    listTokenKeys: async () =>
      (await tokenKeys.published()).map(({ kid, publicKey }) => ({
        kid,
        x: publicKey.export({ format: "jwk" }).x ?? "",
      })),
    listAudit: createAuditList(auditStore, keys),
    findAuditRemovedTo: auditStore.findRemovedTo,
    showMe: createMeShower({ tenants: createTenantStore(database), defaultQuotas }),
    awaitTurn: (tenantId) => turns.take(tenantId, "batches"),
  };
  const verifySignature = createRequestSignatureVerifier({
    nonces,
    uses,
    openSecret: (key) => openKey(sealing, key),
    now,
  });
  return {
    useCases,
    guard: {
      authenticator,
      redeemTicket: tickets.redeem,
      quotas,
      shedder,
      addresses,
      files: createFilePace(fileQuotaOf(addressQuotaOf(settings)), () => performance.now()),
      verifySignature,
      verifyPasskey: people.verifyPasskey,
      audit,
      publicUrl,
      now,
    },
    metrics: [tampered.metric, unreadable.metric],
    unreadableTokenKeys: unreadable.shown,
    issueStreamTicket: tickets.issue,
    clients: access,
    quotas,
    addresses,
    prepare: () => prepareTokenKeys(tokenKeyStore, sealing, newUuid, now),
    close: async () => {
      await quotas.close();
      await uses.close();
      await audit.close();
    },
  };
}

function cacheClientAccess(
  database: Database,
  findClient: ClientStore["findClient"],
  revocations: RevocationStore,
) {
  const { isSuspended } = createTenantSuspensionStore(database);
  return createFreshCache<ClientAccess>(
    async (clientId) => {
      const client = await findClient(clientId);
      const revoked = client === undefined ? [] : await revocations.listRevokedTokens(client);
      return {
        client,
        revokedTokenIds: new Set(revoked),
        isSuspended: client !== undefined && (await isSuspended(client.tenantId)),
      };
    },
    () => performance.now(),
  );
}

function openKey(sealing: Sealing, key: { id: string; material: Uint8Array }): Uint8Array {
  const secret = sealing.open(secretContexts.clientKey(key.id), key.material);
  if (secret === undefined) throw new Error("the master key does not decrypt the key of a client");
  return secret;
}
