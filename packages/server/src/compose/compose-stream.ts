import { showId } from "@bursar/protocol";
import { createEpochNames } from "../app/events/epoch.js";
import { chargeQuota, costOfBytes, takeQuota, takeSpare } from "../app/quotas/take-quota.js";
import type { StreamUseCases } from "../app/stream/stream-use-cases.js";
import type { TransactionUseCases } from "../app/transactions/transaction-use-cases.js";
import type { Settings } from "../config/settings.js";
import { compileValidator, describeFaults } from "../http/validation.js";
import { isDatabaseUnavailable } from "../store/core/database.js";
import { createEventStore } from "../store/events/events.js";
import type { Channel } from "../stream/channel.js";
import { createEventsChannel } from "../stream/events/events-channel.js";
import { createHistory, createHistoryReads } from "../stream/events/history.js";
import { createLogTails } from "../stream/events/log-tails.js";
import { createStreamGateway, type StreamGateway } from "../stream/gateway.js";
import { readAllowedOrigins } from "../stream/handshake.js";
import { createOrderbookChannel } from "../stream/markets/orderbook-channel.js";
import { createTradesChannel, createTradeTail, type TradeTail } from "../stream/markets/trades-channel.js";
import { createMessageRoom } from "../stream/message-room.js";
import { type CompileCheck, createMessageReader } from "../stream/read-message.js";
import type { StreamLimits } from "../stream/stream-deps.js";
import type { ComposeOptions } from "./compose.js";
import type { AccessParts } from "./compose-access.js";
import type { MarketParts } from "./markets/compose-markets.js";

/** The live stream and its channels. */
export interface StreamParts {
  useCases: StreamUseCases;
  gateway: StreamGateway;
  close: () => Promise<void>;
}

/** What the messages of one tenant take in memory while they wait. */
const waitingBytesMax = 16 * 1024 * 1024;

export function composeStream(
  { database, wakeUps, settings, publicUrl, log, newUuid, now }: ComposeOptions,
  { guard, issueStreamTicket, quotas }: AccessParts,
  { listEvents }: Pick<TransactionUseCases, "listEvents">,
  { followed, trades }: Pick<MarketParts, "followed" | "trades">,
): StreamParts {
  const events = createEventStore(database);
  const tails = createLogTails({
    listEvents,
    events,
    wakeUps,
    onError: (error) => log.warn({ err: error }, "the event log could not be read; retrying"),
  });
  const onTradesError = (error: unknown) => log.warn({ err: error }, "trades could not be read");
  const tradeTails = followed.map((market) => createTradeTail(market, trades, onTradesError));
  const epochs = createEpochNames(database.identity);
  const reads = createHistoryReads();
  const history = createHistory(listEvents, reads);
  const channels: Channel[] = [
    createEventsChannel({ tails, history, reads, events }),
    createOrderbookChannel(followed),
    createTradesChannel(
      new Map(followed.map(({ name }, index) => [name, tradeTails[index] as TradeTail])),
      reads,
    ),
  ];
  const gateway = createStreamGateway({
    scope: "events:read",
    authenticator: guard.authenticator,
    audit: guard.audit,
    readMessage: createMessageReader(channels, compileCheck),
    room: createMessageRoom(waitingBytesMax),
    takeQuota: async (client, length) => {
      const cost = 1 + costOfBytes(length);
      const traffic = quotas.of(client);
      const waitSeconds = await takeQuota(
        traffic,
        { quotaClass: "read", canStop: false },
        performance.now(),
        cost,
      );
      if (waitSeconds === 0) guard.shedder.count(client.tenantId, cost);
      return waitSeconds;
    },
    chargeQuota: (client, bytes) => {
      const cost = costOfBytes(bytes);
      chargeQuota(quotas.of(client), "read", performance.now(), cost);
      guard.shedder.count(client.tenantId, cost);
    },
    takeSpareQuota: (client, cost, leavesHalf) => {
      const spare = takeSpare(quotas.of(client), "read", performance.now(), cost, leavesHalf);
      guard.shedder.count(client.tenantId, spare.taken);
      return spare;
    },
    limits: readLimits(settings),
    publicUrl,
    allowedOrigins: readAllowedOrigins(publicUrl, settings["stream.allowed_origins"]),
    newConnectionId: () => showId("con", newUuid()),
    isUnavailable: isDatabaseUnavailable,
    checkEpoch: database.identify,
    epoch: () => epochs.current() ?? "",
    log,
    now,
    monotonicMs: () => performance.now(),
  });
  // The tails of closed streams are released, so that new ones start with what the database has.
  const unsubscribe = database.identity.subscribe(({ isNewEpoch }) => {
    if (isNewEpoch) gateway.closeAll(4010, "epoch_changed");
    else gateway.closeAll(1012, "database restarted");
    tails.reset();
    history.clear();
  });
  return {
    useCases: { issueStreamTicket, openStream: gateway.open },
    gateway,
    close: async () => {
      unsubscribe();
      await gateway.close(0);
      tails.close();
    },
  };
}

/** Messages are validated, and their errors described, like request bodies. */
const compileCheck: CompileCheck = (schema) => {
  const validate = compileValidator({ schema, httpPart: "body" });
  return (value) => (validate(value) ? [] : describeFaults(validate.errors ?? [], "message"));
};

function readLimits(settings: Settings): StreamLimits {
  return {
    sockets: settings["stream.sockets"],
    socketsPerClient: settings["stream.sockets_per_client"],
    subscriptions: settings["stream.subscriptions_per_socket"],
    messageBytes: settings["stream.message_bytes"],
    messagesPerSecond: settings["stream.messages_per_second"],
    bufferBytes: settings["stream.buffer_bytes"],
    heartbeatMs: settings["stream.heartbeat_ms"],
    shutdownSpreadMs: settings["stream.shutdown_spread_ms"],
  };
}
