/**
 * Says across the service, and across its processes, that there is something new to look at. In the process itself it is heard
 * at once; the others hear it through a channel, once for many. A hint can be lost: whoever listens also looks now and then.
 */
export interface WakeUps {
  announce: (topic: Topic, tenantIds: readonly string[]) => void;
  /** Gives back how to stop listening. */
  listen: (topic: Topic, listener: WakeUpListener) => () => void;
}

export type Topic = "accepted" | "events" | "policy" | "deliveries" | "orders" | "levels";

/** `any` means that hints may have been lost, or were too many to name. */
type WakeUpListener = (tenantIds: readonly string[] | "any") => void;

/** What carries hints between processes. */
interface HintChannel {
  send: (text: string) => Promise<void>;
  close: () => Promise<void>;
}

export type OpenHintChannel = (handlers: {
  onText: (text: string) => void;
  /** The channel is there, for the first time or again; what was said before has been missed. */
  onOpen: () => void;
}) => HintChannel;

export interface WakeUpsDeps {
  openChannel: OpenHintChannel;
  /** Names this process among those that share the channel, which also brings back what was sent. */
  processId: string;
}

/** Long enough to make one hint of a busy engine's many commits, short enough for a person not to notice. */
const gatherMs = 20;
/** PostgreSQL carries 8000 bytes at most; this many identifiers fit. */
const tenantsMax = 200;

export function createWakeUps({
  openChannel,
  processId,
}: WakeUpsDeps): WakeUps & { close: () => Promise<void> } {
  const listeners = new Map<Topic, Set<WakeUpListener>>();
  const gathered = new Map<Topic, Set<string>>();
  let timer: NodeJS.Timeout | undefined;

  const tell = (topic: Topic, tenantIds: readonly string[] | "any") => {
    for (const listener of listeners.get(topic) ?? []) listener(tenantIds);
  };
  const channel = openChannel({
    onText: (text) => {
      const [sender, topic, names] = text.split(" ") as [string, Topic, string?];
      // Anybody who may use the database can say anything here, and so can another version.
      if (names === undefined) return;
      if (sender !== processId) tell(topic, names === "any" ? "any" : names.split(",").filter(Boolean));
    },
    onOpen: () => {
      for (const topic of listeners.keys()) tell(topic, "any");
    },
  });

  async function send(): Promise<void> {
    timer = undefined;
    const texts = [...gathered].map(([topic, tenantIds]) => {
      const names = tenantIds.size > tenantsMax ? "any" : [...tenantIds].join(",");
      return `${processId} ${topic} ${names}`;
    });
    gathered.clear();
    // Where one cannot be sent the others find out when they look.
    await Promise.all(texts.map((text) => channel.send(text).catch(() => undefined)));
  }

  return {
    announce: (topic, tenantIds) => {
      tell(topic, tenantIds);
      const known = gathered.get(topic) ?? new Set();
      gathered.set(topic, known);
      for (const tenantId of tenantIds) known.add(tenantId);
      timer ??= setTimeout(() => void send(), gatherMs);
    },
    listen: (topic, listener) => {
      const known = listeners.get(topic) ?? new Set();
      listeners.set(topic, known.add(listener));
      return () => known.delete(listener);
    },
    close: async () => {
      clearTimeout(timer);
      await send();
      await channel.close();
    },
  };
}
