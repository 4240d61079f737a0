import { randomBytes, randomUUID } from "node:crypto";
import { showId } from "@bursar/protocol";
import type { AuditRecorder } from "../app/audit/audit-recorder.js";
import type { ClientAccessCache } from "../app/clients/client.js";
import { createEpochNames } from "../app/events/epoch.js";
import { createDeliveryMetrics } from "../app/metrics/delivery-metrics.js";
import type { LoadShedder } from "../app/quotas/load-shedder.js";
import { createDeliveryAttempter } from "../app/webhooks/attempt-delivery.js";
import { createAuthorizedAttempter } from "../app/webhooks/authorize-delivery.js";
import { createEndpointChanges } from "../app/webhooks/change-endpoint.js";
import { createEndpointCreator } from "../app/webhooks/create-endpoint.js";
import type { DisabledReason, EndpointStore } from "../app/webhooks/endpoint.js";
import type { SecretBox } from "../app/webhooks/endpoint-secrets.js";
import { createEndpointStats } from "../app/webhooks/endpoint-stats.js";
import { createEventRenderer, type EventRendererDeps } from "../app/webhooks/render-events.js";
import { createResends } from "../app/webhooks/resend-deliveries.js";
import { createDeliveryShower } from "../app/webhooks/show-delivery.js";
import { createEndpointTamperReports } from "../app/webhooks/tampered-endpoints.js";
import { createEndpointTester } from "../app/webhooks/test-endpoint.js";
import { createEndpointVerifier } from "../app/webhooks/verify-endpoint.js";
import type { WebhookUseCases } from "../app/webhooks/webhook-use-cases.js";
import { ConfigError } from "../config/setting.js";
import type { Settings } from "../config/settings.js";
import type { Sealing } from "../credentials/sealing.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import type { Metric } from "../runtime/metric.js";
import { isDatabaseUnavailable } from "../store/core/database.js";
import { createEventLog, createEventStore } from "../store/events/events.js";
import { readContexts } from "../store/tracing/trace-contexts.js";
import { createBacklogStore } from "../store/webhooks/delivery-backlogs.js";
import { createEndpointStatsStore } from "../store/webhooks/endpoint-stats.js";
import { createDeliveryStore } from "../store/webhooks/webhook-deliveries.js";
import { createEndpointStore } from "../store/webhooks/webhook-endpoints.js";
import { createResendStore } from "../store/webhooks/webhook-resends.js";
import { removeOldDeliveries } from "../store/webhooks/webhook-retention.js";
import { createSendingStore } from "../store/webhooks/webhook-sending.js";
import { softwareVersion } from "../version.js";
import { createDeliveryWriter } from "../webhooks/delivery-writer.js";
import { createGuardedPost } from "../webhooks/guarded-post.js";
import { type PrivateNetworks, readPrivateNetworks } from "../webhooks/judge-address.js";
import { createWebhookSender, type WebhookSender } from "../webhooks/webhook-sender.js";
import type { ComposeOptions } from "./compose.js";
import { secretContexts } from "./secret-contexts.js";

/** The configuration of webhooks. */
export interface WebhookOptions {
  isLoopbackAllowed: boolean;
  areLiteralsAllowed: boolean;
  privateNetworks: PrivateNetworks;
  concurrency: number;
  timeoutMs: number;
  retryDelaysMs: readonly number[];
  retentionDays: number;
}

export function webhookOptions(settings: Settings, isSandbox: boolean): WebhookOptions {
  return {
    isLoopbackAllowed: isSandbox,
    areLiteralsAllowed: settings["webhooks.allow_ip_literals"] === "true",
    privateNetworks: privateNetworksOf(settings),
    concurrency: settings["webhooks.concurrency"],
    timeoutMs: settings["webhooks.timeout_ms"],
    retryDelaysMs: [0, ...settings["webhooks.retry_delays_ms"].split(",").map(Number)],
    retentionDays: settings["webhooks.retention_days"],
  };
}

function privateNetworksOf(settings: Settings): PrivateNetworks {
  const list = settings["webhooks.private_networks"]?.split(",") ?? [];
  try {
    return readPrivateNetworks(list);
  } catch (error) {
    throw new ConfigError(`webhooks.private_networks: ${(error as Error).message}.`);
  }
}

/** Webhooks: endpoints, deliveries, and the sender. */
export interface WebhookParts {
  useCases: WebhookUseCases;
  sender: WebhookSender;
  metrics: readonly Metric[];
  close: () => Promise<void>;
}

/** Deliveries wake the sender; this is for retries, and for notifications that were lost. */
const lookEveryMs = 2000;
/** In tokens. It is no part of a quota: nothing is refused, and a tenant with more deliveries waits longer for them. */
const attemptCost = 1;
const retentionIntervalMs = 3_600_000;
const firstRetentionMs = 60_000;
const dayMs = 86_400_000;

interface WebhookNeeds {
  signed: Pick<EventRendererDeps, "present" | "onTampered">;
  audit: Pick<AuditRecorder, "record" | "recordAct">;
  clients: ClientAccessCache;
  shedder: Pick<LoadShedder, "countDelivery" | "restPerWork">;
}

export function composeWebhooks(
  options: ComposeOptions,
  { signed, audit, clients, shedder }: WebhookNeeds,
): WebhookParts {
  const { database, sealing, wakeUps, webhooks, log, tracer, newUuid, now } = options;
  const endpoints = createEndpointStore(database, createEventLog(wakeUps));
  const deliveries = createDeliveryStore(database);
  const guarded = createGuardedPost(webhooks);
  const box = createSecretBox(sealing);
  const attempt = createDeliveryAttempter({
    post: guarded.post,
    box,
    userAgent: `Bursar/${softwareVersion}`,
    epoch: createEpochNames(database.identity).current,
    timeoutMs: webhooks.timeoutMs,
    retryDelaysMs: webhooks.retryDelaysMs,
    random: Math.random,
    now,
    tracer,
  });
  const { renderEvents, clearRendered } = createEventRenderer({
    events: createEventStore(database),
    ...signed,
    isUnavailable: isDatabaseUnavailable,
    readTraces:
      tracer === undefined ? undefined : (tenantId, wanted) => readContexts(database, tenantId, wanted),
  });
  const counts = createDeliveryMetrics(now);
  const tampered = createEndpointTamperReports({
    audit,
    onTampered: (endpoint, tenantId) =>
      log.error(
        { webhook_endpoint_id: endpoint, tenant_id: showId("tnt", tenantId) },
        "The database row of a webhook endpoint was changed by something other than Bursar. Nothing is sent to it.",
      ),
    now,
  });
  const sender = createWebhookSender({
    store: createSendingStore(database, tampered.report),
    renderEvents,
    attempt: counts.count(createAuthorizedAttempter({ attempt, clients, now })),
    onAttempt: (tenantId) => shedder.countDelivery(tenantId, attemptCost),
    restPerWork: shedder.restPerWork,
    disableEndpoint: createDisabler(endpoints, now),
    concurrency: webhooks.concurrency,
    // Random, because the database's clock is not known yet.
    holder: randomUUID(),
    onError: (error) => log.error({ err: error }, "The webhook sender failed. It tries again."),
    onDeliveryFailed: ({ tenantId, id }, error) =>
      log.error(
        { err: error, tenant_id: showId("tnt", tenantId), delivery_id: showId("dlv", id) },
        "A delivery could not be sent or recorded. It is tried again later.",
      ),
    isUnavailable: isDatabaseUnavailable,
    now,
    monotonicMs: () => performance.now(),
    lookEveryMs,
    timers: nodeTimers,
  });
  const writer = createDeliveryWriter({
    store: createBacklogStore(database),
    onWritten: (tenantIds) => wakeUps.publish("deliveries", tenantIds),
    onError: (error) =>
      log.error({ err: error }, "Webhook deliveries could not be written. They are written later."),
    restPerWork: shedder.restPerWork,
    monotonicMs: () => performance.now(),
    timers: nodeTimers,
  });
  const unsubscribe = [
    wakeUps.subscribe("deliveries", sender.wake),
    wakeUps.subscribe("backlogs", writer.wake),
  ];
  database.identity.subscribe(() => {
    clearRendered();
    sender.reset();
    writer.wake();
  });
  const stopRemoving = removeRegularly(options);
  const onChanged = (tenantId: string) => sender.refresh([tenantId]);
  const deps = { endpoints, judgeUrl: guarded.judgeUrl, box, newUuid, randomBytes, now };

  return {
    metrics: [...counts.metrics, tampered.metric],
    sender: {
      ...sender,
      start: () => {
        writer.start();
        sender.start();
      },
      stop: async () => {
        await writer.stop();
        await sender.stop();
      },
    },
    useCases: {
      createEndpoint: createEndpointCreator(deps),
      readEndpoint: async (tenantId, id) =>
        (await endpoints.readEndpoint(tenantId, id)) ?? { refused: "WEBHOOK_ENDPOINT_NOT_FOUND" },
      listEndpoints: endpoints.listEndpoints,
      ...createEndpointChanges({ ...deps, onChanged }),
      verifyEndpoint: createEndpointVerifier({ ...deps, attempt, audit, onChanged }),
      testEndpoint: createEndpointTester({ endpoints, attempt, audit, newUuid, now, onChanged }),
      showDelivery: createDeliveryShower({ deliveries, renderEvents }),
      listDeliveries: deliveries.listDeliveries,
      ...createEndpointStats({ store: createEndpointStatsStore(database), endpoints, now }),
      ...createResends({
        resends: createResendStore(database),
        deliveries,
        endpoints,
        onResent: (tenantId) => wakeUps.publish("deliveries", [tenantId]),
        now,
      }),
    },
    close: async () => {
      for (const end of unsubscribe) end();
      stopRemoving();
      await writer.stop();
      await sender.stop();
      await guarded.close();
    },
  };
}

function createSecretBox(sealing: Sealing): SecretBox {
  return {
    seal: ({ tenantId, id }, secret) => sealing.seal(secretContexts.endpoint(tenantId, id), secret),
    open: ({ tenantId, id }, sealed) => {
      const secret = sealing.open(secretContexts.endpoint(tenantId, id), sealed);
      if (secret === undefined)
        throw new Error("the master key does not decrypt the secret of a webhook endpoint");
      return secret;
    },
  };
}

/** Disables an endpoint on behalf of the service, unless the tenant has disabled it already. */
function createDisabler(endpoints: EndpointStore, now: () => number) {
  return async (tenantId: string, endpointId: string, reason: DisabledReason) => {
    await endpoints.changeEndpoint(
      tenantId,
      endpointId,
      ({ state }) => (state === "enabled" ? { state: { to: "disabled", reason } } : {}),
      new Date(now()),
      undefined,
    );
  };
}

/** Removes old deliveries at intervals; returns a function that stops it. */
function removeRegularly({ database, webhooks, log, now, isClockTrusted }: ComposeOptions): () => void {
  let isStopping = false;
  let isRunning = false;
  const remove = async () => {
    if (isRunning || !isClockTrusted()) return;
    isRunning = true;
    const before = new Date(now() - webhooks.retentionDays * dayMs);
    await removeOldDeliveries(database, {
      before,
      isStopping: () => isStopping,
      onFailure: ({ tenantId, id }, error) =>
        log.error(
          {
            err: error,
            tenant_id: tenantId && showId("tnt", tenantId),
            delivery_id: id && showId("dlv", id),
          },
          id === undefined
            ? "Old webhook deliveries of a tenant, or the counts of old hours, could not be removed. The next run tries again."
            : "An old webhook delivery could not be removed. The next run tries again.",
        ),
    }).catch((error: unknown) =>
      log.warn({ err: error }, "Old webhook deliveries could not be removed. The next run tries again."),
    );
    isRunning = false;
  };
  // Also soon after the start, for processes that are restarted often.
  const timers = [
    setTimeout(() => void remove(), firstRetentionMs).unref(),
    setInterval(() => void remove(), retentionIntervalMs).unref(),
  ];
  return () => {
    isStopping = true;
    for (const timer of timers) clearInterval(timer);
  };
}
