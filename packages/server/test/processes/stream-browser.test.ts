import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { hasBrowser, launchBrowser } from "../harness/browser.js";
import { startTestService } from "../harness/service/test-service.js";
import { transactionsOf } from "../harness/transactions/transactions-client.js";

describe("a page in a browser", () => {
  it.runIf(hasBrowser)(
    "follows the stream with a ticket, from an origin that is allowed and from no other",
    async () => {
      const page = createServer((_request, response) =>
        response.setHeader("content-type", "text/html").end("<p>"),
      );
      await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
      const { port } = page.address() as AddressInfo;
      const service = await startTestService({ BURSAR_STREAM_ALLOWED_ORIGINS: `http://127.0.0.1:${port}` });
      const token = await service.token(await service.createTenant("100"));
      const { create } = transactionsOf(service, token);
      const { body } = await create({ reference: "browser", asset: "USD", amount: "1" });
      const ticketUrl = async () => {
        const response = await service.call("POST", "/v1/stream/tickets", token);
        const { ticket } = (await response.json()) as { ticket: string };
        return `${service.url.replace("http", "ws")}/v1/stream?ticket=${ticket}`;
      };
      const browser = await launchBrowser();
      try {
        const tab = await browser.newPage();
        /** Opens a stream in the page, and returns its first event or its close code. */
        const follow = async (url: string) =>
          (await tab.evaluate(`(${followInPage})(${JSON.stringify(url)})`)) as {
            transaction?: string;
            protocol?: string;
            code?: number;
          };
        await tab.goto(`http://127.0.0.1:${port}/`);
        expect(await follow(await ticketUrl())).toEqual({ transaction: body.id, protocol: "bursar.v1.json" });
        await tab.goto(`http://localhost:${port}/`);
        expect(await follow(await ticketUrl())).toEqual({ code: 1006 });
      } finally {
        await browser.close();
        page.close();
        await service.stop();
      }
    },
  );
});

/** Runs in the page, so it cannot use anything else in this file. */
const followInPage = `(url) => new Promise((resolve) => {
  const socket = new WebSocket(url, "bursar.v1.json");
  socket.onopen = () => socket.send(JSON.stringify({ type: "subscribe", channel: "events", since: 0 }));
  socket.onclose = ({ code }) => resolve({ code });
  socket.onmessage = ({ data }) => {
    const { type, event } = JSON.parse(data);
    if (type === "event") resolve({ transaction: event.data.transaction.id, protocol: socket.protocol });
  };
})`;
