import pino from "pino";
import { describe, expect, it } from "vitest";
import { createTerminalLines } from "./log.js";

/** What a terminal would show. */
function shown(write: (log: pino.Logger) => void): string {
  const chunks: string[] = [];
  const output = { write: (chunk: string) => void chunks.push(chunk) };
  write(pino({ timestamp: pino.stdTimeFunctions.isoTime }, createTerminalLines(output, false)));
  return chunks.join("").replaceAll(/\[\d\d:\d\d:\d\d\.\d{3}\]/g, "[time]");
}

const request = {
  request_id: "req_01jd",
  method: "POST",
  path: "/v1/transactions",
  status: 202,
  duration_ms: 79.3,
};

describe("a log line on a terminal", () => {
  it("is one readable line for a request", () => {
    expect(shown((log) => log.info(request, "request"))).toBe(
      "[time] INFO: POST /v1/transactions 202 79 ms req_01jd\n",
    );
    expect(shown((log) => log.info({ ...request, duration_ms: 0.7 }, "request"))).toContain(" 0.7 ms ");
  });

  it("shows what a hostile client has sent as text", () => {
    const path = "/v1/\u001b[2J\u001b]0;owned\u0007\r\nINFO: all is well\u202e";
    expect(shown((log) => log.info({ ...request, path }, "request"))).toBe(
      "[time] INFO: POST /v1/\\u{1b}[2J\\u{1b}]0;owned\\u{7}\\u{d}\\u{a}INFO: all is well\\u{202e} 202 79 ms req_01jd\n",
    );
    const line = shown((log) => log.warn({ what: "a\u001b[31mb" }, "c\u001b[0m"));
    expect(line).not.toContain("\u001b");
  });

  it("has the fields of any other line, and the stack of an error", () => {
    expect(shown((log) => log.info({ url: "http://127.0.0.1:8080" }, "ready"))).toBe(
      '[time] INFO: ready {"url":"http://127.0.0.1:8080"}\n',
    );
    expect(shown((log) => log.error({ err: new Error("it broke") }, "failed"))).toMatch(
      /Error: it broke\n.*at /s,
    );
  });
});
