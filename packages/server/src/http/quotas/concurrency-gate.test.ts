import { EventEmitter } from "node:events";
import type { FastifyReply, FastifyRequest } from "fastify";
import { describe, expect, it } from "vitest";
import type { ClientTraffic } from "../../app/quotas/traffic.js";
import { enterConnection, enterRequest } from "./concurrency-gate.js";

const limits = { requestsPerClient: 2, connectionsPerClient: 2 };

function setUp() {
  const socket = Object.assign(new EventEmitter(), { destroyed: false });
  const traffic = { connections: 0, requestsInFlight: 0 } as ClientTraffic;
  const request = { raw: { socket } } as unknown as FastifyRequest;
  const answer = () => ({ raw: new EventEmitter() }) as unknown as FastifyReply;
  const close = () => {
    socket.destroyed = true;
    socket.emit("close");
  };
  const counts = () => [traffic.connections, traffic.requestsInFlight];
  return { traffic, request, answer, close, counts };
}

describe("what a client has open", () => {
  it("is counted once, until it is answered", () => {
    const { traffic, request, answer, close, counts } = setUp();
    const replies = [answer(), answer(), answer()] as const;
    expect(enterConnection(traffic, request, limits)).toBeUndefined();
    expect(replies.map((reply) => enterRequest(traffic, request, reply, limits)?.code)).toEqual([
      undefined,
      undefined,
      "CONCURRENCY_LIMITED",
    ]);
    replies[0].raw.emit("close");
    expect(counts()).toEqual([1, 1]);
    close();
    replies[1].raw.emit("close");
    expect(counts()).toEqual([0, 0]);
  });

  it("is released with the connection, although a queued response emits no event", () => {
    const { traffic, request, answer, close, counts } = setUp();
    enterRequest(traffic, request, answer(), limits);
    enterRequest(traffic, request, answer(), limits);
    close();
    expect(counts()).toEqual([0, 0]);
  });

  it("is not counted for a client that disconnects during authentication", () => {
    const { traffic, request, answer, close, counts } = setUp();
    close();
    expect(enterConnection(traffic, request, limits)?.message).toBe("The client has disconnected.");
    expect(enterRequest(traffic, request, answer(), limits)?.message).toBe("The client has disconnected.");
    expect(counts()).toEqual([0, 0]);
  });
});
