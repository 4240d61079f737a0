import { createServer as createHttpsServer } from "node:https";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { createBoundedFetch } from "../../../src/credentials/bounded-fetch.js";
import { useGuardedPoster } from "../../harness/webhooks/guarded-poster.js";
import { createLongHandshakes } from "../../harness/webhooks/long-handshakes.js";

const { authority, own, listening, poster } = useGuardedPoster();

describe("a hostile receiver", () => {
  /** Answers at `http://receiver.example` with these bytes, again and again. */
  async function flooding(first: string, again: string) {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => {
        socket.write(first);
        if (again === "") return;
        const piece = again.repeat(1000);
        const more = () => {
          while (!socket.destroyed && socket.write(piece));
        };
        socket.on("drain", more);
        more();
      });
    });
    const port = await listening(server);
    return `http://127.0.0.1:${port}/`;
  }
  const loopback = { isLoopbackAllowed: true, areLiteralsAllowed: true };

  it("that sends informational responses without end is given up after a few", async () => {
    const url = await flooding("", "HTTP/1.1 103 Early Hints\r\n\r\n");
    expect(await poster(loopback)(url, 60_000)).toMatchObject({
      kind: "failed",
      reason: "the answer does not begin",
    });
  });

  it("may send a few, and then its answer", async () => {
    const early = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(3);
    const url = await flooding(`${early}HTTP/1.1 204 No Content\r\n\r\n`, "");
    expect(await poster(loopback)(url)).toMatchObject({ kind: "answered", status: 204 });
  });

  it("whose chunks have an extension without end is given up", async () => {
    const url = await flooding("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;", "abcdefgh");
    expect(await poster(loopback)(url, 60_000)).toMatchObject({
      kind: "failed",
      reason: "the answer is too long",
    });
  });

  it("gets no handshake with a group of 8192 bits, which takes long", async () => {
    const options = { minVersion: "TLSv1.3", ecdhCurve: "ffdhe8192" } as const;
    const server = createHttpsServer({ ...own, ...options }, (_request, response) => response.end());
    server.on("tlsClientError", () => undefined);
    const port = await listening(server);
    expect(await poster()(`https://receiver.example:${port}/`)).toMatchObject({
      kind: "failed",
      sent: false,
    });
  });

  it("gets no handshake with a group of its own of 10,000 bits", async () => {
    const { server, handshakes } = createLongHandshakes(authority, ["receiver.example"]);
    const port = await listening(server);
    expect(await poster()(`https://receiver.example:${port}/`, 60_000)).toMatchObject({
      kind: "failed",
      sent: false,
    });
    expect(handshakes).toEqual({ made: 0, refused: 1 });
  });
});

describe("an OpenID provider", () => {
  it("gets no handshake with a group of its own of 10,000 bits", async () => {
    const { server, handshakes } = createLongHandshakes(authority, ["localhost"]);
    const port = await listening(server);
    await expect(createBoundedFetch()(`https://localhost:${port}/`, {})).rejects.toThrow("fetch failed");
    expect(handshakes).toEqual({ made: 0, refused: 1 });
  });
});
