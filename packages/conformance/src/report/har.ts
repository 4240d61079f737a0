import type { Session } from "../engine/session.js";
import { createRedactor, type ShownExchange, type ShownNotification } from "./redact.js";
import type { Report } from "./report.js";

/** Every exchange of the run and every notification that arrived, in the order of time, as an HTTP Archive 1.2, without secrets. */
export function harReport({ kit }: Report, session: Session): string {
  const redactor = createRedactor(session);
  const { receiver, exchanges } = session;
  const entries = [
    ...exchanges.map((exchange) => toEntry(redactor.exchange(exchange))),
    ...(receiver?.deliveries ?? []).map((one) =>
      toReceivedEntry(redactor.notification(one), redactor.text(receiver?.url ?? "")),
    ),
  ].sort((one, other) => (one.startedDateTime < other.startedDateTime ? -1 : 1));
  const log = { version: "1.2", creator: { name: "bursar-conformance", version: kit }, entries };
  return `${JSON.stringify({ log }, null, 1)}\n`;
}

const pairs = (headers: ShownExchange["request_headers"]) =>
  headers.map(([name, value]) => ({ name, value }));

/** A notification: a request of the target to the receiver. */
function toReceivedEntry(notification: ShownNotification, receiverUrl: string) {
  const entry = toEntry({
    index: notification.index,
    started_at: notification.received_at,
    duration_ms: notification.answered_after_ms,
    method: notification.method,
    url: receiverUrl.replace(/\/$/, "") + notification.path,
    request_headers: notification.headers,
    request_body: notification.body,
    status: notification.answer,
    response_headers: [],
    ...(notification.abandoned === true
      ? { failure: "the sender closed the connection before the answer" }
      : {}),
  });
  return { ...entry, comment: `notification ${notification.index}, received by the kit` };
}

function toEntry(exchange: ShownExchange) {
  const {
    request_headers: headers,
    request_body: body,
    request_body_encoding: encoding,
    response_headers: received = [],
    response_body: text,
  } = exchange;
  const type = (list: ShownExchange["request_headers"]) =>
    list.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  return {
    startedDateTime: exchange.started_at,
    time: exchange.duration_ms,
    request: {
      method: exchange.method,
      url: exchange.url,
      httpVersion: "HTTP/1.1",
      headers: pairs(headers),
      queryString: [],
      cookies: [],
      headersSize: -1,
      bodySize: body === undefined ? 0 : body.length,
      ...(body === undefined
        ? {}
        : {
            postData: {
              mimeType: type(headers),
              text: body,
              ...(encoding === undefined ? {} : { _encoding: encoding }),
            },
          }),
    },
    response: {
      status: exchange.status ?? 0,
      statusText: "",
      httpVersion: "HTTP/1.1",
      headers: pairs(received),
      cookies: [],
      content: { size: text?.length ?? 0, mimeType: type(received), text: text ?? "" },
      redirectURL: "",
      headersSize: -1,
      bodySize: -1,
      ...(exchange.failure === undefined ? {} : { _error: exchange.failure }),
    },
    cache: {},
    timings: { send: 0, wait: exchange.duration_ms, receive: 0 },
  };
}
