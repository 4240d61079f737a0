import { setTimeout } from "node:timers/promises";
import { type AssetRegistry, createTimeZones, type MarketRegistry, type PolicyWorld } from "@bursar/domain";
import type { ChangeRequestService } from "../app/change-requests/change-request-service.js";
import { createPolicyExecutors } from "../app/change-requests/policy-executors.js";
import {
  createDestinationService,
  type DestinationService,
} from "../app/destinations/destination-service.js";
import { createActivePolicies } from "../app/policy/active-policies.js";
import type { AllowList } from "../app/policy/allow-list.js";
import { createDocumentChecker } from "../app/policy/check-document.js";
import { createPolicyComparer } from "../app/policy/compare-policies.js";
import { createPolicyEvaluator } from "../app/policy/evaluate-policy.js";
import { createEvaluatedRequestReader } from "../app/policy/evaluated-request.js";
import { createPolicyChangePlanner } from "../app/policy/plan-policy-change.js";
import type { ActivePolicies, PolicyReads } from "../app/policy/policy.js";
import { createPolicyCompiler } from "../app/policy/policy-compiler.js";
import type { PolicyUseCases } from "../app/policy/policy-use-cases.js";
import { createLimitPreparation } from "../app/policy/prepare-limits.js";
import { createPolicyReader } from "../app/policy/read-policy.js";
import { createPolicyReplacer } from "../app/policy/replace-policy.js";
import type { Rails } from "../app/rails/rail.js";
import type { WalletDirectory } from "../app/wallets/wallet-directory.js";
import { type BoundedGate, createBoundedGate } from "../runtime/concurrency/bounded-gate.js";
import { createKeyedMutex } from "../runtime/concurrency/keyed-mutex.js";
import { createEventLog } from "../store/events/events.js";
import { createDestinationStore } from "../store/policy/destinations.js";
import { createWindowFiller } from "../store/policy/fill-windows.js";
import { createPolicyStore } from "../store/policy/policies.js";
import { createUsageStore } from "../store/policy/usage.js";
import type { ComposeOptions } from "./compose.js";

/** Policy: the rules of each tenant, and its allow-list of addresses. */
export interface PolicyParts {
  useCases: PolicyUseCases & DestinationService;
  /** The active policy of each tenant. */
  policies: ActivePolicies;
  allowList: AllowList;
  /** How approved changes of the policy and of destinations are applied. */
  executors: ReturnType<typeof createPolicyExecutors>;
}

interface PolicyNeeds {
  assets: AssetRegistry;
  wallets: WalletDirectory;
  rails: Rails;
  markets: MarketRegistry;
  requestChange: ChangeRequestService["requestChange"];
}

/**
 * Changes of policies that are planned at once. Each compares policies in slices of 2 ms, so that a turn of the event loop takes less than
 * 10 ms. Planning one takes up to 100 ms, so the last one of a tenant waits for about a second.
 */
const planningLimits = { concurrentMax: 4, concurrentOfKeyMax: 1, waitingMax: 200, waitingOfKeyMax: 10 };

/** Each takes up to five seconds, if the tenant has much history. */
const preparationsWaitingMax = 1;

/** Each takes up to half a second, if the tenant has much history. */
const evaluationsWaitingMax = 10;

export function composePolicy(
  { database, settings, wakeUps, newUuid, now }: ComposeOptions,
  { assets, wallets, rails, markets, requestChange }: PolicyNeeds,
): PolicyParts {
  const world: PolicyWorld = {
    assets,
    networks: rails.networks,
    markets: new Set(markets.list.map(({ name }) => name)),
    timeZones: createTimeZones(),
  };
  const store = createPolicyStore(database, wakeUps);
  const destinations = createDestinationStore(database);
  const compiler = createPolicyCompiler(world);
  const comparer = createPolicyComparer();
  const checkDocument = createDocumentChecker({ store, compiler });
  const policies = createActivePolicies({ store, compiler, wakeUps, monotonicMs: () => performance.now() });

  database.identity.subscribe(policies.clear);

  const destinationDelaySeconds = settings["policy.destination_delay_seconds"];
  const plannerOf = (reads: PolicyReads, turns?: BoundedGate) =>
    createPolicyChangePlanner({
      ...(turns === undefined ? {} : { turns }),
      store: reads,
      checkDocument: createDocumentChecker({ store: reads, compiler }),
      compiler,
      comparer,
      destinationDelaySeconds,
    });
  const planner = plannerOf(store, createBoundedGate(planningLimits));
  const prepareLimits = createLimitPreparation(
    createWindowFiller({
      database,
      log: createEventLog(wakeUps),
      now,
      monotonicMs: () => performance.now(),
      pause: (ms) => setTimeout(ms),
    }),
    createKeyedMutex(preparationsWaitingMax),
  );

  return {
    policies,
    executors: createPolicyExecutors({
      planner,
      plannerOf: (reads) => plannerOf(reads),
      prepareLimits,
      rails,
      destinations,
      onReplaced: (tenantId) => wakeUps.publish("policy", [tenantId]),
      newUuid,
      now,
    }),
    allowList: destinations,
    useCases: {
      readPolicy: createPolicyReader(store),
      replacePolicy: createPolicyReplacer({ store, planner, prepareLimits, requestChange, now }),
      listPolicyVersions: store.listVersions,
      countLimits: (tenantId) => policies.peek(tenantId)?.policy.windows.length ?? 0,
      evaluatePolicy: createPolicyEvaluator({
        policies,
        checkDocument,
        readRequest: createEvaluatedRequestReader({
          assets,
          wallets,
          rails,
          markets,
          allowList: destinations,
        }),
        usage: createUsageStore(database),
        logReads: createKeyedMutex(evaluationsWaitingMax),
        store,
        assets,
        now,
      }),
      ...createDestinationService({
        store: destinations,
        planner,
        requestChange,
        rails,
        newUuid,
        now,
      }),
    },
  };
}
