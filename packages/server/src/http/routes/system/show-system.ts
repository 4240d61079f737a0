import { System as SystemBody } from "@bursar/protocol";
import { itemsOfScan } from "../../../app/quotas/take-quota.js";
import type { Backlog, MarketState, System } from "../../../app/system/system.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { defineRoute } from "../../route.js";
import { presentCount } from "../webhooks/show-webhook-stats.js";

export function showSystem({ showSystem: show }: Pick<UseCases, "showSystem">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/system",
      access: "system:manage",
      operationId: "showSystem",
      tag: "System",
      summary: "Read how the service is doing",
      description:
        "Versions, what waits and since when, markets, chains, connections and keys. Of what waits, only what belongs to this tenant is counted; the operator has [metrics](/docs/operating/alerts) of the whole installation.",
      success: { status: 200, schema: SystemBody, description: "How the service is doing." },
      errors: [],
    },
    async (request) => {
      const system = await show(principalOf(request).principal.tenantId);
      const { accepted, awaitingApproval, deliveries } = system.queues;
      request.itemsFound = itemsOfScan(accepted.count + awaitingApproval.count + deliveries.count);
      return present(system);
    },
  );
}

function present(system: System): SystemBody {
  const { process, pool, queues, chains } = system;
  return {
    object: "system",
    version: process.version,
    schema_version: process.schemaVersion,
    process: {
      id: process.id,
      started_at: process.startedAt.toISOString(),
      overloaded: system.isOverloaded,
      ready: system.faults.length === 0,
      not_ready: [...system.faults],
    },
    database: {
      epoch: system.epoch ?? null,
      clock: system.isClockTrusted ? "trusted" : "differs",
      connections: { max: pool.max, in_use: pool.inUse, idle: pool.idle, waiting: pool.waiting },
    },
    transactions: {
      accepted: presentBacklog(queues.accepted),
      awaiting_approval: presentCount(queues.awaitingApproval),
      on_rails: system.onRails,
    },
    deliveries: {
      pending: presentBacklog(queues.deliveries),
      deferred_events: queues.deferredEvents,
      failing_endpoints: queues.failingEndpoints,
      disabled_endpoints: queues.disabledEndpoints,
    },
    reader: system.lag,
    markets: system.markets.map((market) => ({
      market: market.market,
      state: stateOf(market),
      holder:
        market.holder === null
          ? null
          : { process_id: market.holder, since: market.heldSince?.toISOString() ?? null },
    })),
    signer: chains?.signer ?? null,
    networks: (chains?.networks ?? []).map(({ network, state, unreachableSince }) => ({
      network,
      state,
      unreachable_since: unreachableSince?.toISOString() ?? null,
    })),
    keys: {
      token: [...system.keys.token],
      token_unreadable: [...system.keys.unreadable],
      audit: [...system.keys.audit],
    },
  };
}

function presentBacklog({ oldestAt, ...counted }: Backlog) {
  return { ...presentCount(counted), oldest_at: oldestAt?.toISOString() ?? null };
}

function stateOf({ holder, isHalted }: MarketState): "running" | "waiting" | "halted" {
  if (isHalted) return "halted";
  return holder !== null ? "running" : "waiting";
}
