import { randomBytes } from "node:crypto";
import { readId, showId } from "@bursar/protocol";
import pino from "pino";
import type { ApiClient } from "../../../src/app/clients/client.js";
import type { Parts } from "../../../src/compose/compose.js";
import { loadConfig } from "../../../src/config/load-config.js";
import { type Service, startService } from "../../../src/main.js";
import { openDatabase } from "../../../src/store/core/database.js";
import { createTestDatabase, type TestDatabase } from "../database/test-database.js";

export interface TestClient {
  tenantId: string;
  clientId: string;
  secret: string;
  client: ApiClient;
}

export interface TestService {
  url: string;
  service: Service;
  database: TestDatabase;
  masterKey: Uint8Array;
  logLines: string[];
  /** A tenant of its own, with its first client, and this much USD in its primary wallet. */
  createTenant: (usd?: string) => Promise<TestClient>;
  /** Brings more into its primary wallet. */
  fund: (client: TestClient, asset: string, amount: string) => Promise<void>;
  token: (client: Pick<TestClient, "clientId" | "secret">, scope?: string) => Promise<string>;
  /** A request with a token and, where there is one, a JSON body. */
  call: (
    method: string,
    path: string,
    token: string | undefined,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Response>;
  /** Another process's worth of service on the same database and with the same keys. */
  another: () => Promise<TestService>;
  stop: () => Promise<void>;
}

interface SharedParts {
  database: TestDatabase;
  masterKey: Uint8Array;
  publicUrl: string | undefined;
}

/** What would stand in a configuration file: keys with a dot, all of them numbers. */
function settingsOfFile(settings: Record<string, string>): object {
  const inFile = Object.entries(settings).filter(([key]) => key.includes("."));
  return Object.fromEntries(inFile.map(([key, value]) => [key, Number(value)]));
}

/** A test, its clients and the service share one event loop: that it runs late says nothing about the service. */
const patience = { "limits.event_loop_delay_ms": 60_000, "limits.accept_wait_ms": 60_000 };

/** The whole service, on a free port and a database of its own; settings by their environment variables or their keys. */
export async function startTestService(
  settings: Record<string, string> = {},
  shared?: SharedParts,
  open: typeof openDatabase = openDatabase,
): Promise<TestService> {
  const database = shared?.database ?? (await createTestDatabase());
  const masterKey = shared?.masterKey ?? randomBytes(32);
  const logLines: string[] = [];
  const publicUrl = shared?.publicUrl ?? settings["BURSAR_PUBLIC_URL"];
  let parts: Parts | undefined;
  const service = await startService({
    isSandbox: true,
    seed: async (_url, made) => {
      parts = made;
    },
    settings: {
      ...loadConfig({
        PORT: "0",
        DATABASE_URL: database.url,
        ...settings,
        ...(publicUrl === undefined ? {} : { BURSAR_PUBLIC_URL: publicUrl }),
      }).values,
      ...patience,
      ...settingsOfFile(settings),
    },
    log: pino({ level: "trace" }, { write: (line: string) => logLines.push(line) }),
    masterKey: () => masterKey,
    openDatabase: open,
    onFailure: (error) => {
      throw error;
    },
    signal: new AbortController().signal,
  });
  const { url } = service;
  if (parts === undefined) throw new Error("the service has no parts");
  const { createTenant, fundPrimary, useCases } = parts;

  return {
    url,
    service,
    database,
    masterKey,
    logLines,
    createTenant: async (usd) => {
      const { tenant, client, secret } = await createTenant("test");
      if (usd !== undefined) await fundPrimary(tenant.id, "USD", usd);
      return {
        tenantId: showId("tnt", tenant.id),
        clientId: showId("cli", client.id),
        secret: secret ?? "",
        client,
      };
    },
    fund: ({ client }, asset, amount) => fundPrimary(client.tenantId, asset, amount),
    token: async ({ clientId, secret }, scope) => {
      const proof = { method: "secret", clientId: readId("cli", clientId) ?? "", secret } as const;
      const issued = await useCases.requestToken(proof, scope, {
        requestId: "test",
        address: "127.0.0.1",
      });
      if ("fault" in issued) throw new Error(issued.description);
      return issued.token;
    },
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
    another: () => startTestService(settings, { database, masterKey, publicUrl: publicUrl ?? url }),
    stop: async () => {
      await service.stop();
      if (shared === undefined) await database.drop();
    },
  };
}
