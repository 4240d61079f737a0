import type { WebhookChallenge, WebhookTestBody } from "../../generated/schemas.js";
import type { BursarEvent } from "../../resources/event-kinds.js";

/** A delivery of an event. */
export type EventNotification = BursarEvent & { delivery_id: string };

/** The verified body of a webhook; `event` says which. */
export type Notification = EventNotification | WebhookChallenge | WebhookTestBody;

/** Whether it is an event of the log, and not a challenge or a test. */
export function isEvent(notification: Notification): notification is EventNotification {
  return notification.sequence !== null;
}
