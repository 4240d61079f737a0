import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createGuardedPost, type GuardedPostOptions } from "../../../src/webhooks/guarded-post.js";
import { ipv4Ranges, ipv6Ranges, readPrivateNetworks } from "../../../src/webhooks/judge-address.js";
import { hostileUrls } from "../../harness/webhooks/hostile-urls.js";

/** Public addresses for the tests. No connection is made to them, because every address is redirected to this machine. */
const publicAddress = "93.184.215.14";
const publicAddress6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c";

describe("the address guard", () => {
  let listener: Server;
  let port: number;
  let connections = 0;
  beforeAll(async () => {
    listener = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => listener.listen(0, resolve));
    port = (listener.address() as AddressInfo).port;
  });
  afterAll(() => listener.close());
  beforeEach(() => {
    connections = 0;
  });

  /** Posts to a URL. `resolveHost` resolves its name, and every connection would reach the listener. */
  async function tryToReach(url: string, options: Partial<GuardedPostOptions> = {}) {
    const { post, close } = createGuardedPost({
      isLoopbackAllowed: false,
      areLiteralsAllowed: false,
      privateNetworks: readPrivateNetworks([]),
      resolveHost: async () => ["127.0.0.1"],
      dialAs: () => "127.0.0.1",
      ...options,
    });
    const outcome = await post({ tenantId: "tenant", url, headers: {}, body: "{}", timeoutMs: 5000 });
    await close();
    return outcome;
  }

  it("is tested with more than two hundred URLs", () => {
    expect(new Set(hostileUrls(port)).size).toBeGreaterThan(400);
  });

  it.each([false, true])(
    "connects to none of them, with addresses in URLs allowed: %s",
    async (areLiteralsAllowed) => {
      for (const url of hostileUrls(port)) {
        expect({ url, ...(await tryToReach(url, { areLiteralsAllowed })) }).toMatchObject({
          url,
          kind: "refused",
        });
      }
      expect(connections).toBe(0);
    },
  );

  it("connects to none of them in the sandbox either, except to this machine", async () => {
    const isPlainLoopback = (url: string) => {
      const host = URL.canParse(url) ? new URL(url).hostname : "";
      return host === "localhost" || host === "127.0.0.1" || host === "127.0.0.0" || host === "[::1]";
    };
    for (const url of hostileUrls(port).filter((candidate) => !isPlainLoopback(candidate))) {
      expect({ url, ...(await tryToReach(url, { isLoopbackAllowed: true })) }).toMatchObject({
        url,
        kind: "refused",
      });
    }
    expect(connections).toBe(0);
  });

  const insiders = [...ipv4Ranges, ...ipv6Ranges].flatMap(([network, kind]) =>
    kind === "public" || kind === "reserved" ? [] : [[network.split("/")[0] ?? "", kind] as const],
  );
  it.each(insiders)(
    "refuses a name that resolves to %s (%s), alone or among public addresses",
    async (address) => {
      for (const addresses of [
        [address],
        [publicAddress, address],
        [address, publicAddress6, publicAddress],
      ]) {
        const url = `https://receiver.example:${port}/`;
        for (const isLoopbackAllowed of [false, true]) {
          const outcome = await tryToReach(url, { isLoopbackAllowed, resolveHost: async () => addresses });
          expect(outcome.kind).toBe("refused");
        }
      }
      expect(connections).toBe(0);
    },
  );

  it("connects to a private network that the operator has allowed, and to no other private address", async () => {
    const privateNetworks = readPrivateNetworks(["10.0.0.0/8"]);
    const reach = (...addresses: string[]) =>
      tryToReach(`https://receiver.internal:${port}/`, {
        privateNetworks,
        resolveHost: async () => addresses,
      });
    for (const [address] of insiders.filter(([one]) => !one.startsWith("10.")))
      for (const addresses of [[address], ["10.1.2.3", address]])
        expect({ addresses, ...(await reach(...addresses)) }).toMatchObject({ addresses, kind: "refused" });
    expect(connections).toBe(0);
    await reach("10.1.2.3");
    expect(connections).toBe(1);
  });

  it("connects if all addresses are public", async () => {
    const resolveHost = async () => [publicAddress, publicAddress6];
    await tryToReach(`https://receiver.example:${port}/`, { resolveHost });
    expect(connections).toBe(1);
  });

  it("resolves a name once per connection, so that DNS rebinding has no effect", async () => {
    const answers = [[publicAddress], ["127.0.0.1"], ["127.0.0.1"]];
    let asked = 0;
    const { post, close } = createGuardedPost({
      isLoopbackAllowed: false,
      areLiteralsAllowed: false,
      privateNetworks: readPrivateNetworks([]),
      resolveHost: async () => answers[asked++] ?? [],
      dialAs: (address) => (address === publicAddress ? "127.0.0.1" : "192.0.2.1"),
    });
    const send = () =>
      post({
        tenantId: "tenant",
        url: `https://rebind.example:${port}/`,
        headers: {},
        body: "{}",
        timeoutMs: 5000,
      });
    // The listener closes during the handshake, so that the second attempt needs a new connection.
    expect(await send()).toMatchObject({ kind: "failed", sent: false });
    expect([asked, connections]).toEqual([1, 1]);
    expect(await send()).toMatchObject({
      kind: "refused",
      reason: "rebind.example resolves to an address that is loopback",
    });
    expect([asked, connections]).toEqual([2, 1]);
    await close();
  });

  it.each([
    ["a name without addresses", async () => []],
    [
      "a name that does not exist",
      async () => Promise.reject(Object.assign(new Error(), { code: "ENOTFOUND" })),
    ],
    ["a resolver that returns an invalid address", async () => ["not an address"]],
    ["a resolver that returns an address with a zone", async () => ["fe80::1%eth0"]],
  ])("sends nothing to %s", async (_what, resolveHost) => {
    const outcome = await tryToReach(`https://receiver.example:${port}/`, { resolveHost });
    expect(outcome.kind === "refused" || (outcome.kind === "failed" && !outcome.sent)).toBe(true);
    expect(connections).toBe(0);
  });
});
