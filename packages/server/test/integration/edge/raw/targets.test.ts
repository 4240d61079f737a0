import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  exchange,
  expectOneRefusal,
  listenForRawRequests,
  type RawCase,
  readAnswers,
} from "../../../harness/http/raw-exchange.js";
import type { TestEdge } from "../../../harness/http/test-edge.js";

const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
const to = (what: string, target: string, status: number, code: string): RawCase => [
  what,
  get(target),
  status,
  code,
];

const cases: RawCase[] = [
  ["no target", "GET  HTTP/1.1\r\nHost: a\r\n\r\n", 400, "MALFORMED_REQUEST"],
  ["CONNECT", "CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "MALFORMED_REQUEST"],
  to("an authority as the target", "example.com:80", 400, "MALFORMED_REQUEST"),
  to("a path that does not begin with a slash", "healthz", 400, "MALFORMED_REQUEST"),
  to("an asterisk", "*", 404, "NOT_FOUND"),
  ["OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 404, "NOT_FOUND"],
  to("a space in the target", "/health z", 400, "MALFORMED_REQUEST"),
  to("a tab in the target", "/health\tz", 400, "MALFORMED_REQUEST"),
  to("a NUL in the target", "/healthz\0", 400, "MALFORMED_REQUEST"),
  to("bytes beyond ASCII in the target", "/health\xff", 400, "MALFORMED_REQUEST"),
  to("a percent sign alone", "/v1/%", 400, "MALFORMED_REQUEST"),
  to("a percent sign with one digit", "/v1/%4", 400, "MALFORMED_REQUEST"),
  to("a percent sign without digits", "/v1/%zz", 400, "MALFORMED_REQUEST"),
  to("an encoded byte that is not UTF-8", "/v1/%ff", 400, "MALFORMED_REQUEST"),
  to("an overlong encoding of a slash", "/v1%c0%afprobes", 400, "MALFORMED_REQUEST"),
  to("half an encoded surrogate pair", "/v1/%ed%a0%80", 400, "MALFORMED_REQUEST"),
  to("an encoded NUL", "/healthz%00", 400, "MALFORMED_REQUEST"),
  to("two slashes", "//healthz", 404, "NOT_FOUND"),
  to("a dot segment", "/./healthz", 404, "NOT_FOUND"),
  to("a segment of two dots", "/v1/../healthz", 404, "NOT_FOUND"),
  to("encoded dots", "/v1/%2e%2e/healthz", 404, "NOT_FOUND"),
  to("dots that are encoded twice", "/v1/%252e%252e/healthz", 404, "NOT_FOUND"),
  to("an encoded slash", "/v1%2fprobes", 404, "NOT_FOUND"),
  to("a backslash", "/v1\\..\\healthz", 404, "NOT_FOUND"),
  to("a parameter of the path", "/healthz;a=b", 404, "NOT_FOUND"),
  to("another case", "/HEALTHZ", 404, "NOT_FOUND"),
  to("a slash at the end", "/healthz/", 404, "NOT_FOUND"),
  to("the address of a file", "file:///etc/passwd", 404, "NOT_FOUND"),
  to("a target over the limit", `/${"a".repeat(9000)}`, 431, "HEADERS_TOO_LARGE"),
];

describe("targets", () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await listenForRawRequests();
  });
  afterAll(() => edge.app.close());

  it.each(cases)("%s", (_what, bytes, status, code) => expectOneRefusal(edge, bytes, status, code));

  it.each([
    ["the absolute form", "http://bursar.example/healthz"],
    ["an absolute form with another host, which is ignored", "http://elsewhere.example/healthz"],
    ["a fragment, which no client should send", "/healthz#here"],
  ])("serves %s", async (_what, target) => {
    expect(readAnswers(await exchange(edge.app, get(target)))).toMatchObject([{ status: 200 }]);
  });

  it("logs neither the user nor the host of an absolute form", async () => {
    await exchange(edge.app, get("http://user:s3cr3t@elsewhere.example/healthz?s3cr3t"));
    expect(JSON.stringify(edge.logLines)).not.toMatch(/s3cr3t|elsewhere/);
  });
});
