import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  converse,
  expectOneRefusal,
  listenForRawRequests,
  type RawCase,
  readAnswers,
} from "../../../harness/http/raw-exchange.js";
import type { TestEdge } from "../../../harness/http/test-edge.js";

const get = (headers: string, ending = "\r\n") =>
  `GET /healthz HTTP/1.1${ending}Host: a${ending}${headers}\r\n\r\n`;
const malformed = (what: string, bytes: string): RawCase => [what, bytes, 400, "MALFORMED_REQUEST"];

const cases: RawCase[] = [
  malformed("bytes of another protocol", "\x16\x03\x01\x02\x00\r\n\r\n"),
  malformed("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  malformed("no version", "GET /healthz\r\n\r\n"),
  malformed("a version that does not exist", "GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n"),
  malformed("a version with three parts", "GET /healthz HTTP/1.1.1\r\nHost: a\r\n\r\n"),
  malformed("a version in small letters", "GET /healthz http/1.1\r\nHost: a\r\n\r\n"),
  malformed("a method that does not exist", "STEAL /healthz HTTP/1.1\r\nHost: a\r\n\r\n"),
  malformed("a method in small letters", "get /healthz HTTP/1.1\r\nHost: a\r\n\r\n"),
  malformed("a space before the method", " GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"),
  malformed("a bare line feed after the request line", "GET /healthz HTTP/1.1\nHost: a\r\n\r\n"),
  malformed("bare line feeds everywhere", "GET /healthz HTTP/1.1\nHost: a\n\n"),
  malformed("a bare line feed between headers", get("X-One: 1\nX-Two: 2")),
  malformed("a bare carriage return between headers", get("X-One: 1\rX-Two: 2")),
  malformed("a header that is folded with a space", get("X-Folded: one\r\n two")),
  malformed("a header that is folded with a tab", get("X-Folded: one\r\n\ttwo")),
  malformed("a fold before the first header", "GET /healthz HTTP/1.1\r\n Host: a\r\n\r\n"),
  malformed("a space before the colon", "GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n"),
  malformed("a header without a colon", get("X-Nothing")),
  malformed("a header without a name", get(": value")),
  malformed("a NUL in a name", get("X-\0: 1")),
  malformed("a NUL in a value", get("X-One: 1\0")),
  malformed("a control character in a value", get("X-One: \x01")),
  malformed("DEL in a value", get("X-One: \x7f")),
  malformed("a letter beyond ASCII in a name", get("X-\xe9: 1")),
  malformed("no Host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"),
  malformed("two Hosts", get("Host: b\r\nConnection: close")),
  malformed("the same Host twice", get("Host: a\r\nConnection: close")),
  malformed("a malformed Host", "GET /healthz HTTP/1.1\r\nHost: a/b@c\r\nConnection: close\r\n\r\n"),
  malformed(
    "two Authorizations",
    get("Authorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close"),
  ),
  malformed(
    "two Content-Types",
    "POST /v1/probes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
  ),
  ["a header over the limit", get(`X-Long: ${"a".repeat(9000)}`), 431, "HEADERS_TOO_LARGE"],
  ["a name over the limit", get(`${"X".repeat(9000)}: 1`), 431, "HEADERS_TOO_LARGE"],
  ["a thousand headers", get("X-Many: 1234567\r\n".repeat(1000).trimEnd()), 431, "HEADERS_TOO_LARGE"],
];

describe("request lines and headers", () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await listenForRawRequests();
  });
  afterAll(() => edge.app.close());

  it.each(cases)("%s", (_what, bytes, status, code) => expectOneRefusal(edge, bytes, status, code));

  it("refuses endless headers", async () => {
    const received = await converse(edge.app, (socket) => {
      socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n");
      const timer = setInterval(() => socket.write("X-Again: and again\r\n".repeat(100)), 1);
      socket.once("close", () => clearInterval(timer));
    });
    expect(readAnswers(received).map(({ status }) => status)).toEqual([431]);
  });

  it("answers requests before garbage on the same connection, and none after it", async () => {
    const good = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
    const received = await converse(edge.app, (socket) =>
      socket.write(`${good}${good}\x00\x00\r\n\r\n${good}`),
    );
    expect(readAnswers(received).map(({ status }) => status)).toEqual([200, 200, 400]);
  });
});
