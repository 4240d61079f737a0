import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  addToExpress,
  createReceiver,
  openJournalStore,
  signTestWebhook,
  toFastifyPlugin,
  toFetchHandler,
  toNodeHandler,
} from "@bursar/client/webhooks";
import express from "express";
// @ts-expect-error: it has no types under this name; what is used of it is the same as in version 5.
import express4 from "express-4";
import Fastify from "fastify";
import { describe, expect, it } from "vitest";
import { notification, secret } from "./harness/notifications.js";

async function newReceiver() {
  const store = await openJournalStore(join(mkdtempSync(join(tmpdir(), "bursar-adapter-")), "journal.jsonl"));
  const handled: string[] = [];
  const errors: unknown[] = [];
  const receiver = createReceiver({
    secrets: async () => [secret],
    store,
    handle: ({ delivery_id }) => {
      handled.push(delivery_id);
    },
    onError: (error) => errors.push(error),
  });
  return { receiver, handled, errors, close: store.close };
}

describe("adapters", () => {
  it("node:http reads the raw body, and says if a parser has taken it", async () => {
    const { receiver, handled, errors, close } = await newReceiver();
    const handler = toNodeHandler(receiver);
    const server = createServer((request, response) => {
      if (request.url === "/raw") return handler(request, response);
      // What a JSON parser in front of the handler does.
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.once("end", () => {
        setImmediate(() =>
          handler(Object.assign(request, { body: JSON.parse(Buffer.concat(chunks).toString()) }), response),
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { headers, rawBody } = await signTestWebhook({ body: notification(1), secrets: [secret] });
    expect((await fetch(`${url}/raw`, { method: "POST", headers, body: rawBody })).status).toBe(204);
    expect((await fetch(`${url}/parsed`, { method: "POST", headers, body: rawBody })).status).toBe(503);
    expect((await fetch(`${url}/raw`)).status).toBe(405);
    expect((await fetch(`${url}/raw`, { method: "POST", headers, body: "x".repeat(2 ** 21) })).status).toBe(
      413,
    );
    expect(handled).toEqual(["dlv_1"]);
    expect(errors).toMatchObject([{ reason: "body_already_parsed" }]);
    server.close();
    server.closeAllConnections();
    await close();
  });

  it("Request and Response", async () => {
    const { receiver, handled, close } = await newReceiver();
    const handler = toFetchHandler(receiver);
    const { headers, rawBody } = await signTestWebhook({ body: notification(1), secrets: [secret] });
    const request = () =>
      new Request("https://shop.example/hooks", { method: "POST", headers, body: rawBody });
    expect((await handler(request())).status).toBe(204);
    const used = request();
    await used.text();
    expect((await handler(used)).status).toBe(503);
    expect((await handler(new Request("https://shop.example/hooks"))).status).toBe(405);
    expect(handled).toEqual(["dlv_1"]);
    await close();
  });

  it("Fastify keeps the raw body of its route and the parsers of the others", async () => {
    const { receiver, handled, close } = await newReceiver();
    const app = Fastify();
    await app.register(toFastifyPlugin(receiver), { prefix: "/hooks" });
    app.post("/echo", async ({ body }) => body);
    const { headers, rawBody } = await signTestWebhook({ body: notification(1), secrets: [secret] });
    const hook = await app.inject({ method: "POST", url: "/hooks", headers, payload: rawBody });
    expect(hook.statusCode).toBe(204);
    const echo = await app.inject({ method: "POST", url: "/echo", payload: { parsed: true } });
    expect(echo.json()).toEqual({ parsed: true });
    expect(handled).toEqual(["dlv_1"]);
    await app.close();
    await close();
  });

  describe.each<[string, typeof express]>([
    ["5", express],
    ["4", express4],
  ])("Express %s", (_version, framework) => {
    /** Starts an application; returns what posts to one of its paths. */
    async function listen(app: ReturnType<typeof express>) {
      const server = app.listen(0, "127.0.0.1");
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      return {
        post: (path: string, headers: Record<string, string>, body: string) =>
          fetch(url + path, { method: "POST", headers, body }),
        stop: () => {
          server.close();
          server.closeAllConnections();
        },
      };
    }

    it.each(["without", "with"])("keeps the raw body %s a JSON parser for all routes", async (parser) => {
      const { receiver, handled, errors, close } = await newReceiver();
      const app = framework();
      if (parser === "with") app.use(framework.json());
      app.post("/echo", framework.json(), (request, response) => void response.json(request.body));
      addToExpress(app, "/hooks", receiver);
      const { post, stop } = await listen(app);
      const { headers, rawBody } = await signTestWebhook({ body: notification(1), secrets: [secret] });
      expect((await post("/hooks", headers, rawBody)).status).toBe(204);
      expect((await post("/hooks", headers, `${rawBody} `)).status).toBe(401);
      const echo = await post("/echo", { "content-type": "application/json" }, '{"parsed":true}');
      expect(await echo.json()).toEqual({ parsed: true });
      expect(handled).toEqual(["dlv_1"]);
      expect(errors).toMatchObject([{ reason: "no_matching_signature" }]);
      stop();
      await close();
    });

    it("says so if a parser has read the body before a handler that was mounted after it", async () => {
      const { receiver, handled, errors, close } = await newReceiver();
      const app = framework();
      app.post("/raw", framework.raw({ type: "*/*" }), toNodeHandler(receiver));
      app.use(framework.json());
      app.post("/parsed", toNodeHandler(receiver));
      const { post, stop } = await listen(app);
      const { headers, rawBody } = await signTestWebhook({ body: notification(1), secrets: [secret] });
      expect((await post("/parsed", headers, rawBody)).status).toBe(503);
      expect(errors).toMatchObject([{ reason: "body_already_parsed" }]);
      expect((await post("/raw", headers, rawBody)).status).toBe(204);
      expect(handled).toEqual(["dlv_1"]);
      stop();
      await close();
    });
  });

  it("Express is refused at the start if its routes cannot be put in order", async () => {
    const { receiver, close } = await newReceiver();
    expect(() => addToExpress({ post: () => undefined }, "/hooks", receiver)).toThrow(
      /no Express application/,
    );
    await close();
  });
});
