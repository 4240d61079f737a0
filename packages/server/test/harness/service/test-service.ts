import { randomBytes } from "node:crypto";
import type { Asset } from "@bursar/domain";
import { type ChangeClientBody, type InvitePersonBody, readId, type Scope, showId } from "@bursar/protocol";
import pino from "pino";
import type { IntegrityKeys } from "../../../src/app/access/integrity-keys.js";
import { describeAct } from "../../../src/app/audit/audit-entry.js";
import type { ApiClient } from "../../../src/app/clients/client.js";
import type { InvitedPerson, RecoverOptions } from "../../../src/app/people/people-service.js";
import type { RailPart } from "../../../src/app/rails/rail.js";
import { isRefused, type Refused } from "../../../src/app/requests/refused.js";
import type { Parts } from "../../../src/compose/compose.js";
import { loadConfig } from "../../../src/config/load-config.js";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { type Service, startService } from "../../../src/main.js";
import { type LocalClocks, machineClocks } from "../../../src/runtime/database/database-clock.js";
import { createTenantStore } from "../../../src/store/access/clients.js";
import { type Database, openDatabase } from "../../../src/store/core/database.js";
import { creditPrimary } from "../database/credit-wallet.js";
import { createTestDatabase, type TestDatabase } from "../database/test-database.js";
import { wideMarkets } from "../markets/wide-markets.js";

export interface TestClient {
  tenantId: string;
  clientId: string;
  secret: string;
  client: ApiClient;
}

/** What a client of the service needs: its address, tenants to act for, tokens, and requests. Most tests need no more. */
export interface BlackBoxService {
  url: string;
  /** A new tenant with its first client, and this much USD in its primary wallet. */
  createTenant: (usd?: string) => Promise<TestClient>;
  /** A client that the operator creates, so that it is independent of every other one. */
  createIndependentClient: (
    tenant: Pick<TestClient, "tenantId">,
    scopes: readonly Scope[],
    name?: string,
  ) => Promise<TestClient & { token: string }>;
  /** What `bursar client` does to a client. */
  changeAsOperator: (
    client: Pick<TestClient, "tenantId" | "clientId">,
    body: ChangeClientBody,
  ) => Promise<void>;
  /** What `bursar client reset` does; returns the new secret. */
  resetAsOperator: (client: Pick<TestClient, "tenantId" | "clientId">) => Promise<string>;
  /** What `bursar people invite` does; returns the link. */
  inviteAsOperator: (tenant: Pick<TestClient, "tenantId">, body: InvitePersonBody) => Promise<string>;
  /** What `bursar people recover` does; returns the link. */
  recoverAsOperator: (
    tenant: Pick<TestClient, "tenantId">,
    personId: string,
    options?: RecoverOptions,
  ) => Promise<string>;
  /** Registers an Ed25519 key of a client; returns its id. */
  addKeyAsOperator: (client: Pick<TestClient, "tenantId" | "clientId">, publicKey: string) => Promise<string>;
  /** Adds funds to the tenant's primary wallet. */
  fund: (client: TestClient, asset: string, amount: string) => Promise<void>;
  token: (client: Pick<TestClient, "clientId" | "secret">, scope?: string) => Promise<string>;
  /** A request with a token, and with a JSON body if one is given. */
  call: (
    method: string,
    path: string,
    token: string | undefined,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Response>;
}

/** For tests that also look at what the service stores and logs, or run a second one beside it. */
export interface InspectableService extends BlackBoxService {
  database: TestDatabase;
  /** The same, with the keys of the service. */
  keyed: Database;
  logLines: string[];
  masterKey: Uint8Array;
  /** The keys that authenticate what it stores. */
  keys: IntegrityKeys;
  /** Suspends or resumes a tenant, as the operator does. */
  setTenantSuspended: (client: TestClient, isSuspended: boolean) => Promise<void>;
  /** What `bursar tenant set --single-administrator` does. */
  setSingleAdministrator: (client: TestClient, isOn: boolean) => Promise<void>;
  /** A second service on the same database and with the same keys, as another process would run it on a machine with these clocks. */
  another: (clocks?: Partial<LocalClocks>) => Promise<TestService>;
}

/** A service that belongs to the test that has started it. */
export interface TestService extends InspectableService {
  service: Service;
  stop: () => Promise<void>;
}

interface SharedParts {
  database: TestDatabase;
  masterKey: Uint8Array;
  publicUrl: string | undefined;
}

function linkOf(invited: InvitedPerson | Refused | undefined): string {
  if (invited === undefined || isRefused(invited)) throw new Error("there is no invitation");
  return `http://localhost/console#invitation=${invited.invitation?.token}`;
}

/** The settings that a configuration file would have: keys with a dot, all of them numbers. */
function settingsOfFile(settings: Record<string, string>): object {
  const inFile = Object.entries(settings).filter(([key]) => key.includes("."));
  return Object.fromEntries(inFile.map(([key, value]) => [key, Number(value)]));
}

/**
 * A test, its clients and the service share one event loop on a machine that may be busy with something else. That they are
 * late says nothing about the service, so it neither sheds load nor times out requests or its database because of it.
 */
const patientMs = 60_000;
const patientSettings = {
  "limits.event_loop_delay_ms": patientMs,
  // Tests count the events of their tenants.
  "audit.checkpoint_seconds": 0,
  "limits.accept_wait_ms": patientMs,
  "limits.headers_timeout_ms": patientMs,
  "limits.request_timeout_ms": patientMs,
  // Longer than a statement may take, or the connection of a waiting request is closed.
  "limits.idle_timeout_ms": 10 * patientMs,
};
const openPatiently: typeof openDatabase = (options) =>
  openDatabase({ connectTimeoutMs: patientMs, statementTimeoutMs: patientMs, ...options });

/**
 * The whole service, on a free port and with its own database. Settings are given by their environment variables or their keys.
 * A test that needs no special settings uses `sharedService` instead, which is already running.
 */
export async function startTestService(
  settings: Record<string, string> = {},
  shared?: SharedParts,
  open: typeof openDatabase = openPatiently,
  rails: { parts: readonly RailPart[]; assets: readonly Asset[] } = { parts: [], assets: [] },
  clocks: Partial<LocalClocks> = {},
): Promise<TestService> {
  const database = shared?.database ?? (await createTestDatabase());
  const masterKey = shared?.masterKey ?? randomBytes(32);
  const logLines: string[] = [];
  const publicUrl = shared?.publicUrl ?? settings["BURSAR_PUBLIC_URL"];
  let parts: Parts | undefined;
  const { values: config, sources } = loadConfig({
    PORT: "0",
    DATABASE_URL: database.serviceUrl ?? database.url,
    ...settings,
    ...(publicUrl === undefined ? {} : { BURSAR_PUBLIC_URL: publicUrl }),
  });
  const assetCodes = new Set(config.assets.map(({ code }) => code));
  const markets = wideMarkets.filter(({ base, quote }) => assetCodes.has(base) && assetCodes.has(quote));
  const service = await startService({
    isSandbox: true,
    seed: async (_url, made) => {
      parts = made;
    },
    settings: {
      ...config,
      assets: [...config.assets, ...rails.assets],
      // Without a configuration there are no markets.
      ...(sources.markets === "default" ? { markets } : {}),
      ...patientSettings,
      ...settingsOfFile(settings),
    },
    log: pino({ level: "trace" }, { write: (line: string) => logLines.push(line) }),
    keyring: () => createKeyring([masterKey]),
    openDatabase: open,
    clocks: { ...machineClocks, ...clocks },
    rails: rails.parts,
    onFailure: (error) => {
      throw error;
    },
    signal: new AbortController().signal,
  });
  const { url } = service;
  if (parts === undefined) throw new Error("the service has no parts");
  const { createTenant, useCases, assets, keys, setTenantSuspended, database: keyedDatabase } = parts;

  const credit = (tenantId: string, asset: string, amount: string) =>
    creditPrimary({ database: keyedDatabase, assets }, tenantId, asset, amount);

  const tokenOf: BlackBoxService["token"] = async ({ clientId, secret }, scope) => {
    const proof = { method: "secret", clientId: readId("cli", clientId) ?? "", secret } as const;
    const issued = await useCases.requestToken(proof, scope, { requestId: "test", address: "127.0.0.1" });
    if ("fault" in issued) throw new Error(issued.description);
    return issued.token;
  };

  return {
    url,
    service,
    database,
    keyed: keyedDatabase,
    masterKey,
    logLines,
    keys,
    createTenant: async (usd) => {
      const { tenant, client, secret } = await createTenant("test");
      if (usd !== undefined) await credit(tenant.id, "USD", usd);
      return {
        tenantId: showId("tnt", tenant.id),
        clientId: showId("cli", client.id),
        secret: secret ?? "",
        client,
      };
    },
    setTenantSuspended: async ({ client }, isSuspended) => {
      await setTenantSuspended(client.tenantId, isSuspended);
    },
    setSingleAdministrator: async ({ tenantId, client }, isOn) => {
      const origin = { by: "operator", tenantId: client.tenantId } as const;
      const audit = describeAct(
        origin,
        `tenant.single_administrator_${isOn ? "on" : "off"}`,
        tenantId,
        new Date(),
      );
      await createTenantStore(keyedDatabase).setSingleAdministrator(client.tenantId, isOn, audit);
    },
    createIndependentClient: async ({ tenantId }, scopes, name = "independent") => {
      const origin = { by: "operator", tenantId: readId("tnt", tenantId) ?? "" } as const;
      const created = await useCases.createClient(origin, { name, scopes: [...scopes] }, undefined);
      if (isRefused(created)) throw new Error(created.refused);
      const made = { clientId: showId("cli", created.client.id), secret: created.secret ?? "" };
      return { tenantId, ...made, client: created.client, token: await tokenOf(made) };
    },
    changeAsOperator: async ({ tenantId, clientId }, body) => {
      const origin = { by: "operator", tenantId: readId("tnt", tenantId) ?? "" } as const;
      const changed = await useCases.changeClient(origin, readId("cli", clientId) ?? "", body);
      if (isRefused(changed)) throw new Error(changed.refused);
    },
    inviteAsOperator: async ({ tenantId }, body) => {
      const origin = { by: "operator", tenantId: readId("tnt", tenantId) ?? "" } as const;
      return linkOf(await parts?.useCases.invitePerson(origin, body, undefined));
    },
    recoverAsOperator: async ({ tenantId }, personId, options) => {
      const origin = { by: "operator", tenantId: readId("tnt", tenantId) ?? "" } as const;
      return linkOf(await parts?.useCases.recoverPerson(origin, readId("cli", personId) ?? "", options));
    },
    resetAsOperator: async ({ tenantId, clientId }) => {
      const origin = { by: "operator", tenantId: readId("tnt", tenantId) ?? "" } as const;
      const reset = await useCases.resetClient(origin, readId("cli", clientId) ?? "");
      if (isRefused(reset)) throw new Error(reset.refused);
      return reset.secret;
    },
    addKeyAsOperator: async ({ tenantId, clientId }, publicKey) => {
      const origin = { by: "operator", tenantId: readId("tnt", tenantId) ?? "" } as const;
      const body = { algorithm: "ed25519", public_key: publicKey } as const;
      const added = await useCases.addKey(origin, readId("cli", clientId) ?? "", body, undefined);
      if (isRefused(added)) throw new Error(added.refused);
      return showId("key", added.key.id);
    },
    fund: ({ client }, asset, amount) => credit(client.tenantId, asset, amount),
    token: tokenOf,
    call: (method, path, token, body, headers = {}) =>
      fetch(url + path, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    another: (ownClocks) =>
      startTestService(
        settings,
        { database, masterKey, publicUrl: publicUrl ?? url },
        undefined,
        undefined,
        ownClocks,
      ),
    stop: async () => {
      await service.stop();
      if (shared === undefined) await database.drop();
    },
  };
}
