import type { Subscribed } from "@bursar/protocol";
import type { Principal } from "../app/access/authenticate-request.js";
import { isRefused, type Refused } from "../app/requests/refused.js";
import type { Channel, Subscriber, Subscription } from "./channel.js";
import type { ClientMessage } from "./read-message.js";

/** What one stream is subscribed to, by the channels' names. */
export interface Subscriptions {
  subscribe: (
    message: Extract<ClientMessage, { type: "subscribe" }>,
    principal: Principal,
  ) => Promise<{ answer: Subscribed; start: () => void } | Refused>;
  unsubscribe: (channel: string) => Refused | undefined;
  /** Whether a token still allows everything that is subscribed. */
  areAllowed: (principal: Principal) => boolean;
  stopAll: () => void;
}

export function createSubscriptions(subscriber: Subscriber, max: number): Subscriptions {
  const current = new Map<string, Subscription & Pick<Channel, "scope">>();
  let isStopped = false;

  return {
    subscribe: async ({ id, channel, definition, message }, principal) => {
      if (current.has(channel)) return { refused: "ALREADY_SUBSCRIBED" };
      if (current.size >= max) return { refused: "TOO_MANY_SUBSCRIPTIONS" };
      const { scope } = definition;
      if (!principal.scopes.has(scope)) {
        return { refused: "INSUFFICIENT_SCOPE", message: `The access token lacks the scope ${scope}.` };
      }
      const subscription = await definition.subscribe(message as never, subscriber);
      if (isRefused(subscription)) return subscription;
      current.set(channel, { ...subscription, scope });
      // The stream may have ended in the meantime.
      if (isStopped) subscription.stop();
      const answer: Subscribed = {
        type: "subscribed",
        ...(id === undefined ? {} : { id }),
        channel,
        ...subscription.answer,
      };
      return { answer, start: () => (isStopped ? undefined : subscription.start()) };
    },
    unsubscribe: (channel) => {
      const subscription = current.get(channel);
      if (subscription === undefined) return { refused: "NOT_SUBSCRIBED" };
      subscription.stop();
      current.delete(channel);
      return undefined;
    },
    areAllowed: ({ scopes }) => [...current.values()].every(({ scope }) => scopes.has(scope)),
    stopAll: () => {
      isStopped = true;
      for (const subscription of current.values()) subscription.stop();
      current.clear();
    },
  };
}
