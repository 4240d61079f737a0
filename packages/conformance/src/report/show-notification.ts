import type { ShownNotification } from "./redact.js";
import type { ReportedCheck } from "./report.js";

/** So many are shown in full, and of so many more the headline: a reader wants to see the kind of thing that arrived. */
const fullMax = 3;
const headlinesMax = 10;

/** Of a check's notifications: those to show in full, those to show by their headline, and a line about all others. */
export function selectNotifications(check: Pick<ReportedCheck, "notifications" | "other_notifications">) {
  const { notifications = [], other_notifications: others = 0 } = check;
  const left = others + Math.max(0, notifications.length - headlinesMax);
  return {
    full: notifications.slice(0, fullMax),
    headlines: notifications.slice(fullMax, headlinesMax),
    rest: left === 0 ? undefined : `${left} more notifications arrived; the file of --har has all of them`,
  };
}

/** One line about a notification: when it arrived, and what became of it. */
export function headlineOf(notification: ShownNotification): string {
  const { index, received_at: at, bytes, answer, answered_after_ms: afterMs } = notification;
  const end =
    notification.abandoned === true
      ? `the sender closed the connection before the answer ${answer} after ${afterMs} ms`
      : answer === 0
        ? "not answered"
        : `answered with ${answer} after ${afterMs} ms`;
  return `notification ${index}, received ${at}, ${bytes} bytes, ${end}`;
}

/** The request, as it arrived at the receiver. */
export function requestOf({
  method,
  path,
  headers,
  body,
  body_encoding: encoding,
}: ShownNotification): string {
  const lines = [`${method} ${path}`, ...headers.map(([name, value]) => `${name}: ${value}`), ""];
  return [...lines, encoding === undefined ? body : `(base64) ${body}`].join("\n");
}
