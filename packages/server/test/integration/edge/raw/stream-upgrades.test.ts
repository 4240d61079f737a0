import { connect } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { isErrorBody } from "../../../harness/http/is-error-body.js";
import { readAnswers } from "../../../harness/http/raw-exchange.js";
import { sharedService } from "../../../harness/service/shared-service.js";
import { handshake, handshakeBytes } from "../../../harness/stream/raw-stream.js";

const service = await sharedService();

const key = handshake["Sec-WebSocket-Key"];

/** The handshake with some of its headers changed; undefined leaves one out. */
const without = (changed: Record<string, string | undefined>, more: string[] = []) => [
  ...Object.entries({ ...handshake, ...changed }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  ),
  ...more,
];

describe("a malformed WebSocket handshake", () => {
  let token: string;
  beforeAll(async () => {
    token = await service.token(await service.createTenant());
  });

  const exchange = async (bytes: string) => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    let received = "";
    socket.setEncoding("latin1").on("data", (chunk) => {
      received += chunk;
    });
    socket.on("error", () => undefined);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(bytes, "latin1");
    await closed;
    return readAnswers(received);
  };

  it.each<[what: string, lines: string[], status: number, code: string, requestLine?: string]>([
    ["no upgrade at all", without({ Connection: "close", Upgrade: undefined }), 426, "UPGRADE_REQUIRED"],
    [
      "an upgrade that the connection does not name",
      without({ Connection: "close" }),
      426,
      "UPGRADE_REQUIRED",
    ],
    [
      "an upgrade to something else",
      without({ Connection: "close, Upgrade", Upgrade: "h2c" }),
      426,
      "UPGRADE_REQUIRED",
    ],
    ["no version", without({ "Sec-WebSocket-Version": undefined }), 426, "UPGRADE_REQUIRED"],
    ["an old version", without({ "Sec-WebSocket-Version": "8" }), 426, "UPGRADE_REQUIRED"],
    ["an unknown version", without({ "Sec-WebSocket-Version": "14" }), 426, "UPGRADE_REQUIRED"],
    ["two versions", without({}, ["Sec-WebSocket-Version: 8"]), 426, "UPGRADE_REQUIRED"],
    ["no key", without({ "Sec-WebSocket-Key": undefined }), 400, "INVALID_REQUEST"],
    ["a short key", without({ "Sec-WebSocket-Key": "YQ==" }), 400, "INVALID_REQUEST"],
    [
      "a key that is not base64",
      without({ "Sec-WebSocket-Key": `${"!".repeat(22)}==` }),
      400,
      "INVALID_REQUEST",
    ],
    ["two keys", without({}, [`Sec-WebSocket-Key: ${key}`]), 400, "INVALID_REQUEST"],
    ["another protocol", without({ "Sec-WebSocket-Protocol": "chat" }), 400, "INVALID_REQUEST"],
    ["an empty protocol", without({ "Sec-WebSocket-Protocol": "" }), 400, "INVALID_REQUEST"],
    [
      "a protocol twice",
      without({ "Sec-WebSocket-Protocol": "bursar.v1.json, bursar.v1.json" }),
      400,
      "INVALID_REQUEST",
    ],
    [
      "a malformed protocol",
      without({ "Sec-WebSocket-Protocol": "bursar.v1.json, a b" }),
      400,
      "INVALID_REQUEST",
    ],
    [
      "a truncated list of protocols",
      without({ "Sec-WebSocket-Protocol": "bursar.v1.json," }),
      400,
      "INVALID_REQUEST",
    ],
    ["a body", without({}, ["Content-Length: 5"]), 400, "INVALID_REQUEST"],
    ["a body in chunks", without({}, ["Transfer-Encoding: chunked"]), 400, "INVALID_REQUEST"],
    [
      "another method",
      without({ Connection: "close, Upgrade" }),
      405,
      "METHOD_NOT_ALLOWED",
      "PUT /v1/stream HTTP/1.1",
    ],
    ["an older HTTP", without({}), 426, "UPGRADE_REQUIRED", "GET /v1/stream HTTP/1.0"],
    ["another path", without({ Connection: "close, Upgrade" }), 404, "NOT_FOUND", "GET /v1/streams HTTP/1.1"],
    ["headers that are too large", without({ "X-Long": "a".repeat(40_000) }), 431, "HEADERS_TOO_LARGE"],
  ])("is refused for %s", async (_what, lines, status, code, requestLine) => {
    const bytes = handshakeBytes([...lines, `Authorization: Bearer ${token}`], requestLine);
    const answers = await exchange(`${bytes}hello`);
    expect(answers.map((answer) => answer.status).slice(0, 1)).toEqual([status]);
    const [{ headers = {}, body = "" } = {}] = answers;
    const parsed = JSON.parse(body);
    expect(isErrorBody(parsed)).toBe(true);
    expect(parsed.error).toMatchObject({ code, request_id: headers["x-request-id"] });
    // A client of another version gets the supported one (RFC 6455, section 4.4).
    if (status === 426) expect(headers["sec-websocket-version"]).toBe("13");
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  });

  it("is not refused for meaningless extensions, which are not negotiated", async () => {
    const lines = without({}, [
      "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99, ;;=",
      `Authorization: Bearer ${token}`,
    ]);
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.write(handshakeBytes(lines));
    const [head] = (await new Promise<Buffer[]>((resolve) => {
      socket.once("data", (data) => resolve([data]));
    })) as [Buffer];
    expect(String(head)).toMatch(/^HTTP\/1\.1 101 /);
    expect(String(head).toLowerCase()).not.toContain("sec-websocket-extensions");
    socket.destroy();
  });
});
