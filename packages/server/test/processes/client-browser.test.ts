import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { hasBrowser, launchBrowser } from "../harness/browser.js";
import { startTestService } from "../harness/service/test-service.js";

/** The client as a bundler makes it for a page. */
async function bundleClient(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../../../client/dist/index.js", import.meta.url))],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
  });
  return outputFiles[0]?.text ?? "";
}

/** A site with a page, the client, and tokens for whom it knows. */
async function startSite(token: () => Promise<string>) {
  const script = await bundleClient();
  const server = createServer(async (request, response) => {
    if (request.url === "/client.js") response.setHeader("content-type", "text/javascript").end(script);
    else if (request.url === "/token")
      response.end(JSON.stringify({ token: await token(), expiresInSeconds: 300 }));
    else response.setHeader("content-type", "text/html").end("<!doctype html><p>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}

it.runIf(hasBrowser)("a page pays with the client, and follows the stream with a ticket", async () => {
  let token = async () => "";
  const site = await startSite(() => token());
  const service = await startTestService({
    BURSAR_STREAM_ALLOWED_ORIGINS: site.origin,
    BURSAR_CORS_ORIGINS: site.origin,
  });
  const tenant = await service.createTenant("100");
  token = () => service.token(tenant);
  const browser = await launchBrowser();
  try {
    const tab = await browser.newPage();
    await tab.goto(site.origin);
    const seen = (await tab.evaluate(`(${payInPage})(${JSON.stringify(service.url)})`)) as Record<
      string,
      unknown
    >;
    expect(seen).toEqual({
      state: "completed",
      balance: "99",
      events: ["completed"],
      ticketed: true,
      secret: "CREDENTIALS_INVALID",
    });
  } finally {
    await browser.close();
    site.stop();
    await service.stop();
  }
});

/** Runs in the page, so it cannot use anything else in this file. */
const payInPage = `async (baseUrl) => {
  const { createBursar } = await import("/client.js");
  const operations = [];
  const bursar = createBursar({
    baseUrl,
    credentials: async () => (await fetch("/token")).json(),
    onRequest: ({ operation }) => operations.push(operation),
  });
  const created = await bursar.transactions.create({ reference: "page", asset: "USD", amount: "1" });
  const { state, source } = await bursar.transactions.waitFor(created.id);
  const wallet = await bursar.wallets.get(source.wallet_id);
  const events = [];
  for await (const item of bursar.events.follow({ since: 0 })) {
    if (item.type !== "event" || item.event.data.transaction?.id !== created.id) continue;
    events.push(item.event.data.transaction.state);
    if (events.at(-1) === "completed") break;
  }
  let secret = "accepted";
  try {
    createBursar({ baseUrl, credentials: { clientId: "cli_1", secret: "bsk_1" } });
  } catch (error) {
    secret = error.code;
  }
  return {
    state,
    events,
    secret,
    balance: wallet.balances.find(({ asset }) => asset === "USD").available,
    ticketed: operations.includes("POST /v1/stream/tickets"),
  };
}`;
