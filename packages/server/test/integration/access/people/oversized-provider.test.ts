import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { answerBytesMax } from "../../../../src/credentials/bounded-fetch.js";
import { createOidcProvider } from "../../../../src/credentials/oidc-provider.js";
import { eventually } from "../../../harness/eventually.js";

describe("an OpenID provider whose description of itself is longer than any provider's", () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  /** A login with a provider that answers so to every question. */
  async function logInWith(answer: (response: ServerResponse, issuer: string) => void) {
    server = createServer((_request, response) => answer(response, issuer)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server?.once("listening", resolve));
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const options = { issuer, clientId: "bursar", clientSecret: "secret", scope: "openid" };
    const provider = createOidcProvider(
      { ...options, redirectUri: () => "http://localhost/console/oidc", onUnavailable: () => undefined },
      Date.now,
    );
    return await provider.begin();
  }

  const describeProvider = (issuer: string, padding: number) =>
    JSON.stringify({
      ...{ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` },
      ...{ jwks_uri: `${issuer}/jwks`, padding: "x".repeat(padding) },
    });
  const json = { "content-type": "application/json" };

  it("is used while it is below the bound", async () => {
    const login = await logInWith((response, issuer) =>
      response.writeHead(200, json).end(describeProvider(issuer, 100_000)),
    );
    expect(login).toMatchObject({ url: expect.stringContaining("/auth?") });
  });

  it("is not parsed, also if few bytes are sent", async () => {
    const login = await logInWith((response, issuer) =>
      response
        .writeHead(200, { ...json, "content-encoding": "gzip" })
        .end(gzipSync(describeProvider(issuer, answerBytesMax))),
    );
    expect(login).toBe("unavailable");
  });

  it("is not read to an end that never comes", async () => {
    let isClosed = false;
    const login = await logInWith((response) => {
      response.writeHead(200, json).on("close", () => {
        isClosed = true;
      });
      const send = (): void => {
        while (!isClosed && response.write("[".repeat(65_536)));
        if (!isClosed) response.once("drain", send);
      };
      send();
    });
    expect(login).toBe("unavailable");
    await eventually(
      () => isClosed,
      (closed) => closed,
    );
  });
});
