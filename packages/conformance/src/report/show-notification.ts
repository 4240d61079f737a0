import type { ShownNotification } from "./redact.js";

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
