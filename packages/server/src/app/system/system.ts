import type { ChainChecks, ReadinessFault } from "../../runtime/readiness.js";
import type { AuditDraft, Origin } from "../audit/audit-entry.js";
import { tenantOf } from "../audit/audit-entry.js";
import type { AuditKey } from "../audit/checkpoint.js";
import { describeReviewedAct } from "../clients/review-caller.js";
import type { OverviewStore } from "../overview/overview.js";
import type { Refused } from "../requests/refused.js";
import type { BoundedCount } from "../webhooks/endpoint-stats.js";

/**
 * How the service is doing, as one tenant may see it: the software and this process, what all tenants share and can see anyway (networks,
 * markets, public keys), and of every queue only what belongs to the tenant. The operator of the installation has the metrics for the rest.
 */
export interface System {
  process: ProcessFacts;
  pool: PoolUse;
  epoch: string | undefined;
  isClockTrusted: boolean;
  isOverloaded: boolean;
  /** What keeps this process from being ready for a load balancer. */
  faults: readonly ReadinessFault[];
  queues: SystemQueues;
  /** In a state that waits for a network. */
  onRails: number;
  lag: { events: number; seconds: number };
  markets: readonly MarketState[];
  chains: ChainChecks | undefined;
  keys: { token: readonly string[]; unreadable: readonly string[]; audit: readonly string[] };
}

interface ProcessFacts {
  id: string;
  startedAt: Date;
  version: string;
  schemaVersion: number;
}

interface PoolUse {
  max: number;
  inUse: number;
  idle: number;
  waiting: number;
}

export interface Backlog extends BoundedCount {
  oldestAt: Date | undefined;
}

/** What waits of one tenant. */
export interface SystemQueues {
  accepted: Backlog;
  awaitingApproval: BoundedCount;
  deliveries: Backlog;
  /** Events whose deliveries were too many to be written with them. */
  deferredEvents: number;
  failingEndpoints: number;
  disabledEndpoints: number;
}

export interface MarketState {
  market: string;
  /** The process that runs it; null if none does at the moment. */
  holder: string | null;
  /** Null if the process acquired it before this was recorded. */
  heldSince: Date | null;
  isHalted: boolean;
}

type FailureKind = "transaction" | "order" | "wallet" | "delivery";

/**
 * A row that the service could not process and tries again. Why is for the operator: the sentence comes from inside of the service and can
 * name anything.
 */
export interface Failure {
  kind: FailureKind;
  id: string;
  attempts: number;
  /** Undefined if it is due, or was set aside. */
  retryAt: Date | undefined;
  isSetAside: boolean;
}

export interface SystemStore {
  readQueues: (tenantId: string) => Promise<SystemQueues>;
  listMarkets: () => Promise<MarketState[]>;
  /** Of each kind, those that are tried next come first. */
  listFailures: (tenantId: string) => Promise<Failure[]>;
  /** Makes a failed row due; false if the tenant has none with this id. */
  retryFailure: (
    tenantId: string,
    failure: Pick<Failure, "kind" | "id">,
    now: Date,
    audit: AuditDraft,
  ) => Promise<boolean>;
}

export interface SystemUseCases {
  showSystem: (tenantId: string) => Promise<System>;
  listFailures: SystemStore["listFailures"];
  retryFailure: (
    origin: Origin,
    failure: Pick<Failure, "kind" | "id"> & { shownId: string },
  ) => Promise<undefined | Refused>;
}

export interface SystemDeps {
  store: SystemStore;
  overview: Pick<OverviewStore, "listOpen" | "readLag">;
  process: ProcessFacts;
  poolUse: () => PoolUse;
  epoch: () => string | undefined;
  isClockTrusted: () => boolean;
  isOverloaded: () => boolean;
  readinessFaults: () => readonly ReadinessFault[];
  checkChains: () => Promise<ChainChecks | undefined>;
  listTokenKeys: () => Promise<readonly { kid: string }[]>;
  /** Those that were left out when the keys were loaded. */
  listUnreadableTokenKeys: () => readonly string[];
  listAuditKeys: () => readonly AuditKey[];
  now: () => number;
}

const onRails = new Set(["processing", "broadcast", "confirming"]);

export function createSystem(deps: SystemDeps): SystemUseCases {
  const { store, overview, now } = deps;
  return {
    showSystem: async (tenantId) => {
      const [queues, open, lag, markets, chains, tokenKeys] = await Promise.all([
        store.readQueues(tenantId),
        overview.listOpen(tenantId),
        overview.readLag(tenantId, new Date(now())),
        store.listMarkets(),
        deps.checkChains(),
        deps.listTokenKeys(),
      ]);
      return {
        process: deps.process,
        pool: deps.poolUse(),
        epoch: deps.epoch(),
        isClockTrusted: deps.isClockTrusted(),
        isOverloaded: deps.isOverloaded(),
        faults: deps.readinessFaults(),
        queues,
        onRails: open.reduce((sum, { state, count }) => sum + (onRails.has(state) ? count : 0), 0),
        lag,
        markets,
        chains,
        keys: {
          token: tokenKeys.map(({ kid }) => kid),
          unreadable: deps.listUnreadableTokenKeys(),
          audit: deps.listAuditKeys().map(({ kid }) => kid),
        },
      };
    },
    listFailures: store.listFailures,
    retryFailure: async (origin, { shownId, ...failure }) => {
      const at = new Date(now());
      const audit = describeReviewedAct(origin, "failure.retry", shownId, at);
      const isRetried = await store.retryFailure(tenantOf(origin), failure, at, audit);
      return isRetried ? undefined : { refused: "FAILURE_NOT_FOUND" };
    },
  };
}
