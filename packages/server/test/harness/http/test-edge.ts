import { randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import pino from "pino";
import type { AccessGuard } from "../../../src/http/access/guard.js";
import { createEdge, type EdgeOptions } from "../../../src/http/edge.js";
import type { Route } from "../../../src/http/route.js";
import { createReadiness } from "../../../src/runtime/readiness.js";
import { isDatabaseUnavailable } from "../../../src/store/core/database.js";

export interface TestEdge {
  app: FastifyInstance;
  /** Every log line so far, parsed. */
  logLines: Record<string, unknown>[];
}

/** Lets nobody in; the routes that a test brings along are open. */
export const closedGuard: AccessGuard = {
  authenticator: {
    authenticate: () => ({ refused: "UNAUTHENTICATED" }),
    byTicket: async () => ({ refused: "TICKET_INVALID" }),
    review: () => ({ refused: "TOKEN_INVALID" }),
  },
  redeemTicket: async () => ({ refused: "TICKET_INVALID" }),
  quotas: {
    of: () => {
      throw new Error("nobody is let in who could have a quota");
    },
  },
  shedder: { sheds: () => false, count: () => undefined },
  addresses: { wait: () => 0, take: () => 0, counts: { refused: 0 } },
  files: { admit: async () => 0 },
  verifySignature: async () => undefined,
  verifyPasskey: async () => ({ refused: "PASSKEY_REQUIRED" }),
  audit: { record: () => undefined, recordAct: () => undefined, close: async () => undefined },
  publicUrl: "http://bursar.example",
  now: Date.now,
};

/** The real edge with routes of the test's own, logging into memory. */
export async function createTestEdge(
  routes: readonly Route[] = [],
  changed: Partial<EdgeOptions> = {},
): Promise<TestEdge> {
  const logLines: Record<string, unknown>[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => logLines.push(JSON.parse(line)) });
  const readiness = createReadiness({ ping: async () => undefined, clockFault: () => undefined });
  readiness.set("ready");
  const app = await createEdge(
    {
      log,
      readiness,
      guard: closedGuard,
      newRequestId: () => `req_${randomUUID()}`,
      isUnavailable: isDatabaseUnavailable,
      metricsToken: undefined,
      isMetricsLocalOpen: true,
      metrics: [],
      trustedProxies: undefined,
      proxyProtocol: false,
      securityTxt: { contact: undefined, expires: undefined },
      corsOrigins: undefined,
      now: Date.now,
      limits: {
        bodyBytes: 65_536,
        headerBytes: 8192,
        jsonDepth: 16,
        headersTimeoutMs: 5000,
        requestTimeoutMs: 10_000,
        requestsPerClient: 500,
        connectionsPerClient: 1000,
        heavyRequestsPerTenant: 2,
        databaseConnections: 10,
        idleTimeoutMs: 60_000,
      },
      ...changed,
    },
    routes,
  );
  return { app, logLines };
}
