import { randomBytes } from "node:crypto";
import {
  type Asset,
  type AssetRegistry,
  createAssetRegistry,
  formatAmount,
  parseAmount,
} from "@bursar/domain";
import type { Logger } from "pino";
import { createClientAuthenticator } from "./app/access/authenticate-client.js";
import { createRequestAuthenticator } from "./app/access/authenticate-request.js";
import { createClientAccessCache } from "./app/access/client-access.js";
import { createFailureBrake } from "./app/access/failure-brake.js";
import { createTokenIntrospector } from "./app/access/introspect-token.js";
import { createTokenIssuer } from "./app/access/issue-token.js";
import { createTokenRevoker } from "./app/access/revoke-token.js";
import { createTokenEndpoints } from "./app/access/token-endpoints.js";
import { createRequestSignatureVerifier, ed25519PublicKey } from "./app/access/verify-request-signature.js";
import { createAuditRecorder } from "./app/audit/audit-recorder.js";
import { createKeyAdder } from "./app/clients/add-key.js";
import { createClientChanger } from "./app/clients/change-client.js";
import { createClientCreator } from "./app/clients/create-client.js";
import { createKeyRemover } from "./app/clients/remove-key.js";
import { createSecretRemover } from "./app/clients/remove-secret.js";
import { createSecretRotator } from "./app/clients/rotate-secret.js";
import { createEventLister } from "./app/events/list-events.js";
import { createTenantCreator } from "./app/tenants/create-tenant.js";
import { createAcceptQueue } from "./app/transactions/accept-queue.js";
import { createTransactionCanceller } from "./app/transactions/cancel-transaction.js";
import { createChangeHub } from "./app/transactions/change-hub.js";
import { createTransactionCreator } from "./app/transactions/create-transaction.js";
import { createTransactionReader } from "./app/transactions/read-transaction.js";
import type { UseCases } from "./app/use-cases.js";
import { createWalletCreator } from "./app/wallets/create-wallet.js";
import { createWalletPresenter } from "./app/wallets/present-wallet.js";
import { createFreezer } from "./app/wallets/set-frozen.js";
import { createWalletDirectory } from "./app/wallets/wallet-directory.js";
import { assertNetworksKnown } from "./config/assert-networks-known.js";
import { createAssertionVerifier } from "./credentials/client-assertion.js";
import type { Sealing } from "./credentials/sealing.js";
import { createTokenKeyRing, prepareTokenKeys } from "./credentials/token-keys.js";
import { createTokenSigner } from "./credentials/token-signer.js";
import { createEngine, type Engine } from "./engine/engine.js";
import type { AccessGuard } from "./http/access/guard.js";
import { bookRail } from "./rails/book/book-rail.js";
import { analyzeYoungTables } from "./store/analyze-young-tables.js";
import { createAuditStore } from "./store/audit.js";
import { createClientStore } from "./store/clients.js";
import { type Database, isDatabaseAway } from "./store/database.js";
import { createEventStore } from "./store/events.js";
import { fundWallet } from "./store/ledger.js";
import { createSettlementStore } from "./store/settlement.js";
import { createTenantStore } from "./store/tenants.js";
import { createTokenKeyStore } from "./store/token-keys.js";
import { createNonceStore, createRevocationStore, removeExpiredCredentials } from "./store/tokens.js";
import { createTransactionStore } from "./store/transactions.js";
import { createWalletStore } from "./store/wallets.js";

export interface ComposeOptions {
  database: Database;
  assets: readonly Asset[];
  sealing: Sealing;
  publicUrl: string;
  log: Logger;
  newUuid: () => string;
}

/** Use cases with their ports filled, and what the edge and the command line need of them. */
export interface Parts {
  useCases: UseCases;
  guard: AccessGuard;
  createTenant: ReturnType<typeof createTenantCreator>;
  /** Brings money in from outside, into a tenant's primary wallet. */
  fundPrimary: (tenantId: string, asset: string, amount: string) => Promise<void>;
  engine: Engine;
  assets: AssetRegistry;
  /** To be called once, when the schema is there. */
  prepare: () => Promise<void>;
  close: () => Promise<void>;
}

const housekeepingIntervalMs = 60_000;
const analyzeIntervalMs = 1000;

export function compose(options: ComposeOptions): Parts {
  const { database, sealing, publicUrl, log, newUuid } = options;
  const nowMs = Date.now;
  let isPrepared = false;
  const clients = createClientStore(database);
  const revocations = createRevocationStore(database);
  const nonces = createNonceStore(database);
  const tokenKeyStore = createTokenKeyStore(database);
  const auditStore = createAuditStore(database);
  const tokenKeys = createTokenKeyRing(tokenKeyStore, sealing, nowMs);
  const tokens = createTokenSigner({ keys: tokenKeys, issuer: publicUrl, nowMs });
  const access = createClientAccessCache(
    async (clientId) => {
      const client = await clients.findClient(clientId);
      const revoked = client === undefined ? [] : await revocations.listRevokedTokens(client);
      return { client, revokedTokenIds: new Set(revoked) };
    },
    // Ages are measured by a clock that nobody can set back.
    () => performance.now(),
  );
  const authenticator = createRequestAuthenticator({ tokens, clients: access, nowMs });
  const audit = createAuditRecorder({
    store: auditStore,
    onError: (error, lost) => log.error({ err: error, lost }, "audit entries could not be written"),
  });
  const deps = { clients, access, newUuid, randomBytes, nowMs };
  const createClient = createClientCreator(deps);

  const assets = createAssetRegistry(options.assets);
  const presentedAssets = assets.list.map(presentAsset);
  const transactions = createTransactionStore(database, assets);
  const wallets = createWalletStore(database);
  const changes = createChangeHub();
  const readTransactionUseCase = createTransactionReader({ store: transactions, changes, nowMs });
  const rails = new Map([[bookRail.network, bookRail]]);
  assertNetworksKnown(options.assets, rails.keys());
  const engine = createEngine({
    settlements: createSettlementStore(database),
    wallets,
    rails,
    onChanged: changes.announce,
    onError: (error) => log.error({ err: error }, "the engine could not go on; it tries again"),
    nowMs,
  });

  const useCases: UseCases = {
    ...createTokenEndpoints({
      authenticateClient: createClientAuthenticator({
        clients,
        assertions: createAssertionVerifier({ audiences: assertionAudiences(publicUrl), nowMs }),
        nonces,
        brake: createFailureBrake(nowMs),
        nowMs,
      }),
      issue: createTokenIssuer({ tokens, newUuid, nowMs }),
      revoke: createTokenRevoker({ tokens, revocations, clients: access }),
      introspect: createTokenIntrospector({ tokens, authenticator }),
      audit,
      nowMs,
    }),
    listTokenKeys: async () =>
      (await tokenKeys.published()).map(({ kid, publicKey }) => ({
        kid,
        x: publicKey.export({ format: "jwk" }).x ?? "",
      })),
    createClient,
    readClient: async (tenantId, id) =>
      (await clients.findClientOfTenant(tenantId, id)) ?? { refused: "CLIENT_NOT_FOUND" },
    listClients: clients.listClients,
    changeClient: createClientChanger(deps),
    rotateSecret: createSecretRotator(deps),
    removeSecret: createSecretRemover(deps),
    addKey: createKeyAdder({
      ...deps,
      sealSecret: (id, secret) => sealing.seal(keyContext(id), secret),
      isPublicKey,
    }),
    removeKey: createKeyRemover(deps),
    listAudit: auditStore.list,
    createTransaction: createTransactionCreator({
      assets,
      wallets: createWalletDirectory(wallets),
      queue: createAcceptQueue({
        store: transactions,
        isUnavailable: isDatabaseAway,
        onAccepted: () => engine.wake(),
      }),
      newUuid,
    }),
    readTransaction: readTransactionUseCase,
    listTransactions: transactions.listTransactions,
    cancelTransaction: createTransactionCanceller({
      store: transactions,
      read: readTransactionUseCase,
      changes,
      nowMs,
    }),
    listAssets: () => presentedAssets,
    createWallet: createWalletCreator({
      store: wallets,
      networks: new Set(rails.keys()),
      onCreated: () => engine.wake(),
      newUuid,
      nowMs,
    }),
    readWallet: async (tenantId, id) =>
      (await wallets.readWallet(tenantId, id)) ?? { refused: "WALLET_NOT_FOUND" },
    listWallets: wallets.listWallets,
    setFrozen: createFreezer(wallets, nowMs),
    presentWallet: createWalletPresenter(assets),
    listEvents: createEventLister({ events: createEventStore(database), transactions }),
  };
  const verifySignature = createRequestSignatureVerifier({
    nonces,
    openSecret: (key) => {
      const secret = sealing.open(keyContext(key.id), key.material);
      if (secret === undefined) throw new Error("the master key does not open a client's key");
      return secret;
    },
    nowMs,
  });
  const housekeeping = setInterval(() => {
    removeExpiredCredentials(database).catch((error: unknown) =>
      log.warn({ err: error }, "housekeeping failed"),
    );
  }, housekeepingIntervalMs).unref();
  const analyzing = setInterval(() => {
    if (!isPrepared) return;
    analyzeYoungTables(database).catch((error: unknown) =>
      log.debug({ err: error }, "tables could not be analysed"),
    );
  }, analyzeIntervalMs).unref();

  return {
    useCases,
    guard: { authenticator, verifySignature, audit, publicUrl },
    createTenant: createTenantCreator({ tenants: createTenantStore(database), createClient, newUuid, nowMs }),
    fundPrimary: async (tenantId, code, amount) => {
      const asset = assets.find(code);
      const units = asset === undefined ? "malformed" : parseAmount(amount, asset.decimals);
      if (typeof units === "string") throw new Error(`cannot fund ${amount} ${code}`);
      const walletId = await wallets.findWalletByRole(tenantId, "primary");
      await fundWallet(database, { tenantId, walletId, asset: code, amount: units, id: newUuid() });
    },
    prepare: async () => {
      await prepareTokenKeys(tokenKeyStore, sealing, newUuid, nowMs);
      isPrepared = true;
    },
    engine,
    assets,
    close: async () => {
      clearInterval(housekeeping);
      clearInterval(analyzing);
      await engine.stop();
      await audit.close();
    },
  };
}

function presentAsset({ code, caip19, decimals, network, minimum, maximum }: Asset) {
  return {
    code,
    caip19,
    decimals,
    network,
    minimum: formatAmount(minimum, decimals),
    maximum: formatAmount(maximum, decimals),
  };
}

/** An assertion may name the issuer or the endpoint that it is sent to; libraries differ. */
function assertionAudiences(publicUrl: string): string[] {
  return [publicUrl, ...["token", "revoke", "introspect"].map((name) => `${publicUrl}/oauth/${name}`)];
}

function keyContext(keyId: string): string {
  return `client-key ${keyId}`;
}

function isPublicKey(raw: Uint8Array): boolean {
  try {
    return ed25519PublicKey(raw).asymmetricKeyType === "ed25519";
  } catch {
    return false;
  }
}
