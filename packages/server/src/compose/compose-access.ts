import { randomBytes } from "node:crypto";
import type { AccessUseCases } from "../app/access/access-use-cases.js";
import { createClientAuthenticator } from "../app/access/authenticate-client.js";
import { createRequestAuthenticator } from "../app/access/authenticate-request.js";
import type { ClientAccess } from "../app/access/client-access.js";
import { createFailureBrake } from "../app/access/failure-brake.js";
import { createTokenIntrospector } from "../app/access/introspect-token.js";
import { createTokenIssuer } from "../app/access/issue-token.js";
import { createTokenRevoker } from "../app/access/revoke-token.js";
import { createStreamTickets, type IssueTicket } from "../app/access/stream-tickets.js";
import { createTokenEndpoints } from "../app/access/token-endpoints.js";
import { createRequestSignatureVerifier } from "../app/access/verify-request-signature.js";
import { createAuditRecorder } from "../app/audit/audit-recorder.js";
import { createKeyAdder } from "../app/clients/add-key.js";
import { createClientChanger } from "../app/clients/change-client.js";
import { createClientCreator } from "../app/clients/create-client.js";
import { createKeyRemover } from "../app/clients/remove-key.js";
import { createSecretRemover } from "../app/clients/remove-secret.js";
import { createSecretRotator } from "../app/clients/rotate-secret.js";
import { type AddressQuota, createAddressQuota } from "../app/quotas/address-quota.js";
import { createQuotaKeeper, type QuotaKeeper } from "../app/quotas/quota-keeper.js";
import { createAssertionVerifier } from "../credentials/client-assertion.js";
import { isEd25519PublicKey } from "../credentials/ed25519-point.js";
import type { Sealing } from "../credentials/sealing.js";
import { createTicketSigner } from "../credentials/ticket-signer.js";
import { createTokenKeyRing, prepareTokenKeys } from "../credentials/token-keys.js";
import { createTokenSigner } from "../credentials/token-signer.js";
import type { AccessGuard } from "../http/access/guard.js";
import { createFreshCache } from "../runtime/fresh-cache.js";
import { createLanes } from "../runtime/keyed-mutex.js";
import { nodeTimers } from "../runtime/timers.js";
import { createAuditStore } from "../store/access/audit.js";
import { createClientStore } from "../store/access/clients.js";
import { createQuotaStore } from "../store/access/quotas.js";
import { createTokenKeyStore } from "../store/access/token-keys.js";
import { createNonceStore, createRevocationStore } from "../store/access/tokens.js";
import type { Database } from "../store/core/database.js";
import { lookAgainAtApproved } from "../store/transactions/approvals.js";
import type { ComposeOptions } from "./compose.js";
import { quotaOfAddress, quotasOf } from "./configured-quotas.js";

/** Who may do what: clients, their secrets, keys and tokens, and the audit log. */
export interface AccessParts {
  useCases: AccessUseCases;
  guard: AccessGuard;
  quotas: QuotaKeeper;
  addresses: AddressQuota;
  issueStreamTicket: IssueTicket;
  /** To be called once, when the schema is there. */
  prepare: () => Promise<void>;
  close: () => Promise<void>;
}

/** A change takes 3 to 15 ms, so that the last of them waits for about a second. */
const clientChangesWaitingMax = 100;

export function composeAccess(options: ComposeOptions): AccessParts {
  const { database, sealing, publicUrl, settings, log, newUuid, now } = options;
  const clients = createClientStore(database);
  const revocations = createRevocationStore(database);
  const nonces = createNonceStore(database);
  const tokenKeyStore = createTokenKeyStore(database);
  const auditStore = createAuditStore(database);
  const tokenKeys = createTokenKeyRing(tokenKeyStore, sealing, now, () => performance.now());
  const tokens = createTokenSigner({ keys: tokenKeys, issuer: publicUrl, now });
  const access = cacheClientAccess(database);
  const defaultQuotas = quotasOf(settings);
  const addresses = createAddressQuota(quotaOfAddress(settings), () => performance.now());
  const authenticator = createRequestAuthenticator({ addresses, tokens, clients: access, now });
  const audit = createAuditRecorder({
    store: auditStore,
    onError: (error, lost) => log.error({ err: error, lost }, "audit entries could not be written"),
  });
  const quotas = createQuotaKeeper({
    store: createQuotaStore(database),
    defaults: defaultQuotas,
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
  const changes = createLanes(clientChangesWaitingMax);
  const deps = { clients, access, changes, defaultQuotas, newUuid, randomBytes, now };

  const useCases: AccessUseCases = {
    ...createTokenEndpoints({
      authenticateClient: createClientAuthenticator({
        clients,
        assertions: createAssertionVerifier({ audiences: assertionAudiences(publicUrl), now }),
        nonces,
        brake: createFailureBrake(() => performance.now()),
        now,
      }),
      issue: createTokenIssuer({ tokens, newUuid, now }),
      revoke: createTokenRevoker({ tokens, revocations, clients: access }),
      introspect: createTokenIntrospector({ tokens, authenticator }),
      spend: (client) => quotas.of(client).allowances.auth.take(performance.now()),
      audit,
      now,
    }),
    listTokenKeys: async () =>
      (await tokenKeys.published()).map(({ kid, publicKey }) => ({
        kid,
        x: publicKey.export({ format: "jwk" }).x ?? "",
      })),
    createClient: createClientCreator(deps),
    readClient: async (tenantId, id) =>
      (await clients.findClientOfTenant(tenantId, id)) ?? { refused: "CLIENT_NOT_FOUND" },
    listClients: clients.listClients,
    changeClient: createClientChanger({
      ...deps,
      onHeard: async (tenantId, clientId) => {
        if (await lookAgainAtApproved(database, { tenantId, clientId }))
          options.wakeUps.announce("accepted", []);
      },
    }),
    rotateSecret: createSecretRotator(deps),
    removeSecret: createSecretRemover(deps),
    addKey: createKeyAdder({
      ...deps,
      sealSecret: (id, secret) => sealing.seal(keyContext(id), secret),
      isPublicKey: isEd25519PublicKey,
    }),
    removeKey: createKeyRemover(deps),
    listAudit: auditStore.list,
  };
  const verifySignature = createRequestSignatureVerifier({
    nonces,
    openSecret: (key) => openKey(sealing, key),
    now,
  });
  return {
    useCases,
    guard: {
      authenticator,
      redeemTicket: tickets.redeem,
      quotas,
      addresses,
      verifySignature,
      audit,
      publicUrl,
    },
    issueStreamTicket: tickets.issue,
    quotas,
    addresses,
    prepare: () => prepareTokenKeys(tokenKeyStore, sealing, newUuid, now),
    close: async () => {
      await quotas.close();
      await audit.close();
    },
  };
}

function cacheClientAccess(database: Database) {
  const clients = createClientStore(database);
  const revocations = createRevocationStore(database);
  return createFreshCache<ClientAccess>(
    async (clientId) => {
      const client = await clients.findClient(clientId);
      const revoked = client === undefined ? [] : await revocations.listRevokedTokens(client);
      return { client, revokedTokenIds: new Set(revoked) };
    },
    // Ages are measured by a clock that nobody can set back.
    () => performance.now(),
  );
}

/** An assertion may name the issuer or the endpoint that it is sent to; libraries differ. */
function assertionAudiences(publicUrl: string): string[] {
  return [publicUrl, ...["token", "revoke", "introspect"].map((name) => `${publicUrl}/oauth/${name}`)];
}

function openKey(sealing: Sealing, key: { id: string; material: Uint8Array }): Uint8Array {
  const secret = sealing.open(keyContext(key.id), key.material);
  if (secret === undefined) throw new Error("the master key does not open a client's key");
  return secret;
}

function keyContext(keyId: string): string {
  return `client-key ${keyId}`;
}
