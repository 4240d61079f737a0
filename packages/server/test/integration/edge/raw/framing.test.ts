import { afterAll, beforeAll, describe, it } from "vitest";
import { expectOneRefusal, listenForRawRequests, type RawCase } from "../../../harness/http/raw-exchange.js";
import type { TestEdge } from "../../../harness/http/test-edge.js";

const post = (headers: string, body = "") =>
  `POST /v1/probes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`;
const chunked = (body: string) => post("Transfer-Encoding: chunked", body);
const lengths = (...values: string[]) => post(values.map((value) => `Content-Length: ${value}`).join("\r\n"));

/** Requests whose body length two parsers could read differently, so that one of them treats part of a body as a request (smuggling). */
const cases: RawCase[] = [
  ["two lengths that differ", lengths("1", "2"), 400, "MALFORMED_REQUEST"],
  ["two lengths that agree", lengths("0", "0"), 400, "MALFORMED_REQUEST"],
  ["a list of lengths", lengths("0, 0"), 400, "MALFORMED_REQUEST"],
  ["a length with a minus", lengths("-1"), 400, "MALFORMED_REQUEST"],
  ["a length with a plus", lengths("+0"), 400, "MALFORMED_REQUEST"],
  ["a hexadecimal length", lengths("0x10"), 400, "MALFORMED_REQUEST"],
  ["a length with a fraction", lengths("1.0"), 400, "MALFORMED_REQUEST"],
  ["a length with an exponent", lengths("1e1"), 400, "MALFORMED_REQUEST"],
  ["an empty length", lengths(""), 400, "MALFORMED_REQUEST"],
  ["a length with a space inside", lengths("1 0"), 400, "MALFORMED_REQUEST"],
  ["a length of 64 digits", lengths("9".repeat(64)), 400, "MALFORMED_REQUEST"],
  ["a length just beyond 64 bits", lengths("18446744073709551617"), 400, "MALFORMED_REQUEST"],
  [
    "a length, then chunks",
    post("Content-Length: 0\r\nTransfer-Encoding: chunked"),
    400,
    "MALFORMED_REQUEST",
  ],
  [
    "chunks, then a length",
    post("Transfer-Encoding: chunked\r\nContent-Length: 0"),
    400,
    "MALFORMED_REQUEST",
  ],
  ["a coding after chunked", post("Transfer-Encoding: chunked, identity"), 400, "MALFORMED_REQUEST"],
  ["a coding that is not chunked", post("Transfer-Encoding: xchunked"), 400, "MALFORMED_REQUEST"],
  ["identity as a coding", post("Transfer-Encoding: identity"), 400, "MALFORMED_REQUEST"],
  [
    "a coding before chunked",
    post("Transfer-Encoding: identity, chunked", "2\r\n{}\r\n0\r\n\r\n"),
    400,
    "MALFORMED_REQUEST",
  ],
  ["chunked twice", post("Transfer-Encoding: chunked, chunked", "0\r\n\r\n"), 400, "MALFORMED_REQUEST"],
  [
    "two headers of codings",
    post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
    400,
    "MALFORMED_REQUEST",
  ],
  ["chunked behind a vertical tab", post("Transfer-Encoding: \x0bchunked"), 400, "MALFORMED_REQUEST"],
  ["chunked on a folded line", post("Transfer-Encoding:\r\n chunked", "0\r\n\r\n"), 400, "MALFORMED_REQUEST"],
  [
    "chunks in HTTP/1.0",
    "POST /v1/probes HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    400,
    "MALFORMED_REQUEST",
  ],
  ["a chunk whose size is not a number", chunked("x\r\n{}\r\n0\r\n\r\n"), 400, "MALFORMED_REQUEST"],
  ["a chunk whose size has a minus", chunked("-2\r\n{}\r\n0\r\n\r\n"), 400, "MALFORMED_REQUEST"],
  ["a chunk whose size has 0x", chunked("0x2\r\n{}\r\n0\r\n\r\n"), 400, "MALFORMED_REQUEST"],
  ["a chunk beyond 64 bits", chunked("10000000000000002\r\n{}\r\n0\r\n\r\n"), 400, "MALFORMED_REQUEST"],
  ["a chunk that is longer than its size", chunked("1\r\n{}\r\n0\r\n\r\n"), 400, "MALFORMED_REQUEST"],
  ["a chunk whose size ends with a bare line feed", chunked("2\n{}\r\n0\r\n\r\n"), 400, "MALFORMED_REQUEST"],
  ["chunk data that ends with a bare line feed", chunked("2\r\n{}\n0\r\n\r\n"), 400, "MALFORMED_REQUEST"],
  ["a very long chunk extension", chunked(`2;${"x".repeat(20_000)}\r\n{}\r\n`), 413, "PAYLOAD_TOO_LARGE"],
];

describe("the end of a body", () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await listenForRawRequests();
  });
  afterAll(() => edge.app.close());

  it.each(cases)("%s", (_what, bytes, status, code) => expectOneRefusal(edge, bytes, status, code));
});
