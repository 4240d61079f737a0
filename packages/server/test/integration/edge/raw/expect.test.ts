import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { converse, listenForRawRequests, readAnswers } from "../../../harness/http/raw-exchange.js";
import type { TestEdge } from "../../../harness/http/test-edge.js";

const post = (type: string, length: number, more = "") =>
  `POST /v1/probes HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n${more}\r\n`;
const body = '{"name":"expected"}';

describe("a client that sends Expect: 100-continue", () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await listenForRawRequests();
  });
  afterAll(() => edge.app.close());

  it.each([
    ["is too large", "application/json", 65_537, 413, "PAYLOAD_TOO_LARGE"],
    ["is far too large", "application/json", 10_000_000_000, 413, "PAYLOAD_TOO_LARGE"],
    ["is of an unknown type", "text/plain", 10, 415, "UNSUPPORTED_MEDIA_TYPE"],
  ])("is refused before it has sent a body that %s", async (_what, type, length, status, code) => {
    const answers = readAnswers(await converse(edge.app, (socket) => socket.write(post(type, length))));
    expect(answers.map((answer) => answer.status)).toEqual([status]);
    expect(JSON.parse(answers[0]?.body ?? "")).toMatchObject({ error: { code } });
    // The body may come or not, so nothing behind it could be distinguished from it.
    expect(answers[0]?.headers).toMatchObject({ connection: "close" });
  });

  it("gets 100 Continue and its response, repeatedly on the same connection", async () => {
    const received = await converse(edge.app, async (socket) => {
      const next = () =>
        new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
      for (const more of ["", "Connection: close\r\n"]) {
        socket.write(post("application/json", body.length, more));
        expect(await next()).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
        const answer = next();
        socket.write(body);
        expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
      }
    });
    const statuses = readAnswers(received).map(({ status }) => status);
    expect(statuses).toEqual([100, 200, 100, 200]);
  });

  it("need not wait: a body that is sent at once is accepted", async () => {
    const bytes = post("application/json", body.length, "Connection: close\r\n") + body;
    const received = await converse(edge.app, (socket) => socket.write(bytes));
    expect(readAnswers(received).map(({ status }) => status)).toEqual([100, 200]);
  });
});
