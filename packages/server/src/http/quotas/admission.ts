import type { QuotaClass } from "@bursar/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ApiClient } from "../../app/clients/client.js";
import type { LoadShedder } from "../../app/quotas/load-shedder.js";
import type { QuotaKeeper } from "../../app/quotas/quota-keeper.js";
import { costOfBytes, costOfItems } from "../../app/quotas/take-quota.js";
import type { ClientTraffic } from "../../app/quotas/traffic.js";
import type { Refusal } from "../refusal.js";
import { type ConcurrencyLimits, disconnected, enterConnection, enterRequest } from "./concurrency-gate.js";
import { beginHeavy, enterHeavy, type HeavyGates, isHeavy } from "./heavy-gate.js";
import {
  admitBodyByQuota,
  admitByQuota,
  chargeLater,
  isNewWork,
  refuseDebtor,
  shedLoad,
} from "./quota-gate.js";

/** What limits the requests of authenticated clients to a route. */
export interface AdmissionOptions {
  quotaClass: QuotaClass;
  /** Whether the route takes larger bodies than others; `always` if each of its requests is heavy. */
  takesLargeBodies: boolean | "always";
  /** The number of items in a valid body, if the route takes a list. */
  itemsOf?: ((body: unknown, tenantId: string) => number) | undefined;
  /** How many rows of a page cost one token. */
  rowsPerToken?: number | undefined;
  /** Whether its requests can stop something. They are not shed, and need no quota of the tenant. */
  canStop: boolean;
  limits: ConcurrencyLimits;
  heavyGates: HeavyGates;
}

/** Admits a body of this length that has arrived, before it is parsed. */
export type AdmitBody = (bytes: number, done: (refusal?: Refusal) => void) => void;

interface AdmissionDeps {
  quotas: Pick<QuotaKeeper, "of">;
  shedder: Pick<LoadShedder, "sheds" | "count">;
}

/**
 * Admits a request by load, quota and concurrency, in this order, before its body is read; and its body when it has arrived, before it is
 * parsed. Nothing is charged or reserved for a length that is only declared.
 */
export function createAdmission(options: AdmissionOptions, { quotas, shedder }: AdmissionDeps) {
  const { quotaClass, takesLargeBodies, itemsOf, rowsPerToken, canStop, limits, heavyGates } = options;

  function admit(
    client: ApiClient,
    request: FastifyRequest,
    reply: FastifyReply,
    refuseScope: () => Refusal | undefined,
    done: (refusal?: Error) => void,
  ): void {
    const heavy = isHeavy(request, takesLargeBodies);
    const canBeShed = !canStop && (heavy || isNewWork(quotaClass));
    const shed = canBeShed ? shedLoad(shedder, client.tenantId) : undefined;
    if (shed !== undefined) {
      done(shed);
      return;
    }
    const traffic = quotas.of(client);
    admitByQuota(traffic, { quotaClass, canStop }, reply, (refusal) => {
      const refused = refusal ?? enter(traffic, request, reply, refuseScope);
      if (refused !== undefined) {
        done(refused);
        return;
      }
      shedder.count(client.tenantId, 1);
      if (request.method !== "GET") request.admitBody = bodyAdmission(traffic, heavy, request, reply);
      if (heavy) enterHeavy(heavyGates, traffic, request, reply, done);
      else done();
    });
  }

  function enter(
    traffic: ClientTraffic,
    request: FastifyRequest,
    reply: FastifyReply,
    refuseScope: () => Refusal | undefined,
  ): Refusal | undefined {
    // A client that resets its connection must not hide what it tried: a missing scope is recorded, a disconnection is not.
    if (request.raw.socket.destroyed) return refuseScope() ?? disconnected();
    return (
      enterConnection(traffic, request, limits) ??
      // A stream is open for hours and has its own limit.
      (quotaClass === "stream" ? undefined : enterRequest(traffic, request, reply, limits)) ??
      refuseScope()
    );
  }

  function bodyAdmission(
    traffic: ClientTraffic,
    heavy: boolean,
    request: FastifyRequest,
    reply: FastifyReply,
  ): AdmitBody {
    return (bytes, done) => {
      const cost = costOfBytes(bytes);
      const refused = admitBodyByQuota(traffic, quotaClass, cost, reply);
      if (refused === undefined && cost > 0) shedder.count(traffic.tenantId, cost);
      if (refused === undefined && heavy) beginHeavy(heavyGates, traffic, request, reply, done);
      else done(refused);
    };
  }

  function charge(client: ApiClient, cost: number, reply: FastifyReply): void {
    if (cost === 0) return;
    chargeLater(quotas.of(client), quotaClass, cost, reply);
    shedder.count(client.tenantId, cost);
  }

  return {
    admit,
    /** Refuses a read that has waited for its turn while others of its client were charged more than the quota has. */
    admitTurn: (client: ApiClient, reply: FastifyReply): Refusal | undefined =>
      refuseDebtor(quotas.of(client), quotaClass, reply),
    /** Charges the items of a valid body. */
    chargeItems: (client: ApiClient, { body }: FastifyRequest, reply: FastifyReply): void =>
      charge(client, itemsOf === undefined ? 0 : costOfItems(itemsOf(body, client.tenantId)), reply),
    /** Charges items that turned out while the request was served. */
    chargeItemsFound: (client: ApiClient, items: number, reply: FastifyReply): void =>
      charge(client, costOfItems(items), reply),
    /** Charges the rows of a page. */
    chargeRows: (client: ApiClient, page: unknown, reply: FastifyReply): void => {
      if (rowsPerToken !== undefined) charge(client, Math.floor(rowsOf(page) / rowsPerToken), reply);
    },
    /** Charges the size of what was read. What others answer follows from their bodies, which are charged. */
    chargeAnswer: (client: ApiClient, payload: unknown, reply: FastifyReply): void => {
      if (typeof payload === "string" || Buffer.isBuffer(payload))
        charge(client, costOfBytes(payload.length), reply);
    },
  };
}

function rowsOf(page: unknown): number {
  const rows = typeof page === "object" && page !== null && "data" in page ? page.data : [];
  return Array.isArray(rows) ? rows.length : 0;
}
