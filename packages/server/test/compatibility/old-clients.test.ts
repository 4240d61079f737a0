import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.js";
import { startTestService, type TestClient, type TestService } from "../harness/test-service.js";
import { type RecordedRequest, requests } from "./exchanges-0.1.0.js";
import { differences, toRecording } from "./resembles.js";

interface RecordedAnswer {
  status: number;
  body: unknown;
}

const file = new URL("answers-0.1.0.json", import.meta.url);
/** Set once, when a version is released; afterwards its answers never change. */
const isRecording = process.env["BURSAR_RECORD"] === "0.1.0";

describe("a client of version 0.1.0", () => {
  let service: TestService;
  let client: TestClient;
  let token: string;
  const kept: Record<string, string> = {};
  const recorded: Record<string, RecordedAnswer> = isRecording ? {} : JSON.parse(readFileSync(file, "utf8"));

  beforeAll(async () => {
    service = await startTestService();
    client = await service.createTenant("1000000");
    token = await service.token(client);
  });
  afterAll(async () => {
    if (isRecording) writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`);
    await service.stop();
  });

  async function send({ method, path, headers, body, form }: RecordedRequest): Promise<RecordedAnswer> {
    const target = path.replace(/\{(\w+)\}/g, (_, name: string) => kept[name] ?? name);
    const response =
      form === undefined
        ? await service.call(method, target, token, body, headers)
        : await fetch(service.url + target, {
            method,
            headers: { authorization: `Basic ${btoa(`${client.clientId}:${client.secret}`)}` },
            body: new URLSearchParams(form),
          });
    return { status: response.status, body: await response.json() };
  }

  it.each(requests)("is answered as it was: $name", async (request) => {
    const isThere = ({ body }: RecordedAnswer) => (body as { state?: string }).state === request.untilState;
    const answer =
      request.untilState === undefined ? await send(request) : await eventually(() => send(request), isThere);
    for (const [name, field] of Object.entries(request.keep ?? {}))
      kept[name] = (answer.body as Record<string, string>)[field] ?? "";
    if (isRecording) recorded[request.name] = { status: answer.status, body: toRecording(answer.body) };
    const before = recorded[request.name];
    expect(answer.status).toBe(before?.status);
    expect(differences(before?.body, answer.body)).toEqual([]);
  });
});

describe("what a client can rely on", () => {
  it.each([
    ["the same", { a: 1 }, { a: 1 }, []],
    ["more fields", { a: 1 }, { a: 1, b: 2 }, []],
    ["a field that is gone", { a: 1 }, { b: 1 }, ["answer.a is gone"]],
    ["another value", { a: "x" }, { a: "y" }, ['answer.a is "y" where it was "x"']],
    ["null for an object", { a: { b: 1 } }, { a: null }, ["answer.a is no object"]],
    ["another id", { id: "<tx_>" }, { id: "tx_01h455vb4pex5vsknk084sn02q" }, []],
    [
      "an id of another kind",
      { id: "<tx_>" },
      { id: "wlt_01h455vb4pex5vsknk084sn02q" },
      [expect.any(String)],
    ],
    ["fewer entries", [1, 2], [1], [expect.stringContaining("answer[1]")]],
    ["more entries", [1, 3], [1, 2, 3, 4], []],
    ["entries in another order", [1, 2], [2, 1], [expect.stringContaining("answer[1]")]],
  ])("%s", (_what, recorded, actual, expected) => {
    expect(differences(recorded, actual)).toEqual(expected);
  });
});
