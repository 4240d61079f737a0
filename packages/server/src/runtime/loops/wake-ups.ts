/**
 * Notifies the parts of the service, in all of its processes, that there is something new to look at. Subscribers in the same process are
 * called at once; those in other processes through a channel, once for many changes. A notification can be lost, so every subscriber also
 * looks now and then.
 */
export interface WakeUps {
  publish: (topic: Topic, tenantIds: readonly string[]) => void;
  /** Returns a function that ends the subscription. */
  subscribe: (topic: Topic, subscriber: WakeUpSubscriber) => () => void;
  /** Whether other processes can notify this one at the moment, so that looking now and then is for what was lost only. */
  isNotified: () => boolean;
}

export type Topic =
  | "accepted"
  | "rails"
  | "events"
  | "policy"
  | "deliveries"
  | "backlogs"
  | "orders"
  | "levels";

/** `any` means that notifications may have been lost, or were too many to name their tenants. */
type WakeUpSubscriber = (tenantIds: readonly string[] | "any") => void;

/** Carries notifications between processes. */
interface NotifyChannel {
  notify: (payload: string) => Promise<void>;
  isOpen: () => boolean;
  close: () => Promise<void>;
}

export type OpenNotifyChannel = (handlers: {
  onNotification: (payload: string) => void;
  /** The channel is open, for the first time or again; notifications from before were missed. */
  onOpen: () => void;
}) => NotifyChannel;

export interface WakeUpsDeps {
  openChannel: OpenNotifyChannel;
  /** Names this process among those that share the channel, which also returns what was sent. */
  processId: string;
}

/** Long enough to make one notification of a busy engine's many commits, short enough for a person not to notice. */
const lingerMs = 20;
/** PostgreSQL carries 8000 bytes at most; this many ids fit. */
const tenantsMax = 200;

export function createWakeUps({
  openChannel,
  processId,
}: WakeUpsDeps): WakeUps & { close: () => Promise<void> } {
  const subscribers = new Map<Topic, Set<WakeUpSubscriber>>();
  const unsent = new Map<Topic, Set<string>>();
  let timer: NodeJS.Timeout | undefined;

  const wake = (topic: Topic, tenantIds: readonly string[] | "any") => {
    for (const subscriber of subscribers.get(topic) ?? []) subscriber(tenantIds);
  };
  const channel = openChannel({
    onNotification: (payload) => {
      const [sender, topic, names] = payload.split(" ") as [string, Topic, string?];
      // Any user of the database can send anything here, and so can another version.
      if (names === undefined) return;
      if (sender !== processId) wake(topic, names === "any" ? "any" : names.split(",").filter(Boolean));
    },
    onOpen: () => {
      for (const topic of subscribers.keys()) wake(topic, "any");
    },
  });

  async function notifyOthers(): Promise<void> {
    timer = undefined;
    const payloads = [...unsent].map(([topic, tenantIds]) => {
      const names = tenantIds.size > tenantsMax ? "any" : [...tenantIds].join(",");
      return `${processId} ${topic} ${names}`;
    });
    unsent.clear();
    // If one cannot be sent, the other processes find out when they look.
    await Promise.all(payloads.map((payload) => channel.notify(payload).catch(() => undefined)));
  }

  return {
    publish: (topic, tenantIds) => {
      wake(topic, tenantIds);
      const known = unsent.get(topic) ?? new Set();
      unsent.set(topic, known);
      for (const tenantId of tenantIds) known.add(tenantId);
      timer ??= setTimeout(() => void notifyOthers(), lingerMs);
    },
    subscribe: (topic, subscriber) => {
      const known = subscribers.get(topic) ?? new Set();
      subscribers.set(topic, known.add(subscriber));
      return () => known.delete(subscriber);
    },
    isNotified: channel.isOpen,
    close: async () => {
      clearTimeout(timer);
      await notifyOthers();
      await channel.close();
    },
  };
}
