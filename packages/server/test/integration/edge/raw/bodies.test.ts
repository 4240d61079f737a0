import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  converse,
  exchange,
  expectOneRefusal,
  listenForRawRequests,
  type RawCase,
  readAnswers,
} from "../../../harness/http/raw-exchange.js";
import type { TestEdge } from "../../../harness/http/test-edge.js";

const good = '{"name":"a"}';
const json = "Content-Type: application/json";
const post = (headers: string, body: string, target = "/v1/probes") =>
  `POST ${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const wrongType = (what: string, headers: string, body = good): RawCase => [
  what,
  post(headers, body),
  415,
  "UNSUPPORTED_MEDIA_TYPE",
];
const wrongText = (what: string, body: string): RawCase => [what, post(json, body), 400, "MALFORMED_JSON"];
const tooLong = `{"name":"${"a".repeat(70_000)}"}`;

const cases: RawCase[] = [
  wrongType("no type", "X-Nothing: 1"),
  wrongType("an empty type", "Content-Type:"),
  wrongType("a malformed type", "Content-Type: ;;;"),
  wrongType("text", "Content-Type: text/plain"),
  wrongType("a form", "Content-Type: application/x-www-form-urlencoded"),
  wrongType("multipart", "Content-Type: multipart/form-data; boundary=a"),
  wrongType("a type that only begins like JSON", "Content-Type: application/jsonp"),
  wrongType("UTF-16", `${json}; charset=utf-16`),
  wrongType("UTF-7", `${json}; charset=utf-7`),
  wrongType("Latin-1 in quotes", `${json}; charset="iso-8859-1"`),
  wrongType("a repeated charset", `${json}; charset=utf-8; charset=utf-16`),
  wrongType("gzip", `${json}\r\nContent-Encoding: gzip`, gzipSync(good).toString("latin1")),
  wrongType("a gzip bomb", `${json}\r\nContent-Encoding: gzip`, gzipSync(tooLong).toString("latin1")),
  wrongType("deflate", `${json}\r\nContent-Encoding: deflate`),
  wrongType("brotli", `${json}\r\nContent-Encoding: br`),
  wrongType("an encoding in a list", `${json}\r\nContent-Encoding: identity, gzip`),
  wrongText("a byte that is not UTF-8", '{"name":"\xff"}'),
  wrongText("an overlong encoding", '{"name":"\xc0\xaf"}'),
  wrongText("half a surrogate pair as bytes", '{"name":"\xed\xa0\x80"}'),
  wrongText("a truncated character", '{"name":"\xe2\x82"}'),
  wrongText("a byte order mark", `\xef\xbb\xbf${good}`),
  wrongText("a NUL", '{"name":"\0"}'),
  ["a body over the limit", post(json, tooLong), 413, "PAYLOAD_TOO_LARGE"],
  [
    "a length over the limit, whose body never comes",
    `POST /v1/probes HTTP/1.1\r\nHost: a\r\n${json}\r\nConnection: close\r\nContent-Length: 99999999\r\n\r\n`,
    413,
    "PAYLOAD_TOO_LARGE",
  ],
  [
    "chunks over the limit",
    `POST /v1/probes HTTP/1.1\r\nHost: a\r\n${json}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${"4000\r\n".concat("a".repeat(0x4000), "\r\n").repeat(5)}0\r\n\r\n`,
    413,
    "PAYLOAD_TOO_LARGE",
  ],
  [
    "a query that repeats a parameter",
    post(json, good, "/v1/probes?limit=1&limit=2"),
    400,
    "INVALID_REQUEST",
  ],
  ["a query that is wrongly encoded", post(json, good, "/v1/probes?limit=%zz"), 400, "INVALID_REQUEST"],
  ["a query of another alphabet", post(json, good, "/v1/probes?limit=%ff"), 400, "INVALID_REQUEST"],
  ["__proto__ in the query", post(json, good, "/v1/probes?__proto__=1"), 400, "INVALID_REQUEST"],
];

describe("bodies and queries", () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await listenForRawRequests();
  });
  afterAll(() => edge.app.close());

  it.each(cases)("%s", (_what, bytes, status, code) => expectOneRefusal(edge, bytes, status, code));

  it("treats the bytes after a body as a malformed request", async () => {
    const request = `POST /v1/probes HTTP/1.1\r\nHost: a\r\n${json}\r\nContent-Length: ${good.length}\r\n\r\n${good}`;
    const answers = readAnswers(await exchange(edge.app, `${request}{"name":"smuggled"}`));
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
  });

  it("does not wait for a client that closes in the middle of its body", async () => {
    const request = `POST /v1/probes HTTP/1.1\r\nHost: a\r\n${json}\r\nContent-Length: 100\r\n\r\n{"na`;
    const received = await converse(edge.app, (socket) => socket.end(request), { allowHalfOpen: true });
    expect(readAnswers(received).map(({ status }) => status)).toEqual([400]);
  });
});
