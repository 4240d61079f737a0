import type { QuotaClass } from "@bursar/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ApiClient } from "../../app/clients/client.js";
import type { LoadShedder } from "../../app/quotas/load-shedder.js";
import type { QuotaKeeper } from "../../app/quotas/quota-keeper.js";
import { costOfBytes, costOfItems } from "../../app/quotas/take-quota.js";
import type { Refusal } from "../refusal.js";
import { type ConcurrencyLimits, enterConnection, enterRequest } from "./concurrency-gate.js";
import { enterHeavy, isHeavy } from "./heavy-gate.js";
import { admitByQuota, chargeLater, declaredCost, isNewWork, shedLoad } from "./quota-gate.js";

/** What limits the requests of authenticated clients to a route. */
export interface AdmissionOptions {
  quotaClass: QuotaClass;
  /** Whether the route takes larger bodies than others. */
  takesLargeBodies: boolean;
  /** The number of items in a valid body, if the route takes a list. */
  itemsOf?: ((body: unknown) => number) | undefined;
  limits: ConcurrencyLimits;
}

interface AdmissionDeps {
  quotas: Pick<QuotaKeeper, "of">;
  shedder: LoadShedder;
}

/** Admits a request by load, quota and concurrency, in this order, before its body is read; and charges what its body turns out to cost. */
export function createAdmission(options: AdmissionOptions, { quotas, shedder }: AdmissionDeps) {
  const { quotaClass, takesLargeBodies, itemsOf, limits } = options;

  function admit(
    client: ApiClient,
    request: FastifyRequest,
    reply: FastifyReply,
    refuseScope: () => Refusal | undefined,
    done: (refusal?: Error) => void,
  ): void {
    const heavy = isHeavy(request, takesLargeBodies);
    const shed = heavy || isNewWork(quotaClass) ? shedLoad(shedder, client.tenantId) : undefined;
    if (shed !== undefined) {
      done(shed);
      return;
    }
    const traffic = quotas.of(client);
    const cost = declaredCost(request);
    admitByQuota(traffic, quotaClass, cost, reply, (refusal) => {
      const refused =
        refusal ??
        enterConnection(traffic, request, limits) ??
        // A stream is open for hours and has its own limit.
        (quotaClass === "stream" ? undefined : enterRequest(traffic, request, reply, limits)) ??
        refuseScope();
      if (refused === undefined) shedder.count(client.tenantId, cost);
      if (refused === undefined && heavy) enterHeavy(traffic.tenant, request, reply, limits, done);
      else done(refused);
    });
  }

  function charge(client: ApiClient, cost: number, reply: FastifyReply): void {
    if (cost === 0) return;
    chargeLater(quotas.of(client), quotaClass, cost, reply);
    shedder.count(client.tenantId, cost);
  }

  return {
    admit,
    /** Charges a body that did not declare its length. */
    chargeBody: (client: ApiClient, { headers, rawBody }: FastifyRequest, reply: FastifyReply): void => {
      if (rawBody === null || headers["content-length"] !== undefined) return;
      charge(client, costOfBytes(rawBody.length), reply);
    },
    /** Charges the items of a valid body. */
    chargeItems: (client: ApiClient, { body }: FastifyRequest, reply: FastifyReply): void => {
      if (itemsOf !== undefined) charge(client, costOfItems(itemsOf(body)), reply);
    },
  };
}
