import type { AddressInfo, Server } from "node:net";
import { afterEach } from "vitest";
import { createGuardedPost, type GuardedPostOptions } from "../../../src/webhooks/guarded-post.js";
import { readPrivateNetworks } from "../../../src/webhooks/judge-address.js";
import { createTestAuthority } from "./test-certificates.js";

/** Posts to `https://receiver.example`: the name resolves to a public address, which is redirected to this machine. */
export function useGuardedPoster() {
  const authority = createTestAuthority();
  const own = authority.issue({ names: ["receiver.example"] });
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  async function listening(server: Server): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(async () => {
      if ("closeAllConnections" in server) (server.closeAllConnections as () => void)();
      await new Promise((resolve) => server.close(resolve));
    });
    return (server.address() as AddressInfo).port;
  }

  function poster(changed: Partial<GuardedPostOptions> = {}) {
    const guarded = createGuardedPost({
      isLoopbackAllowed: false,
      areLiteralsAllowed: false,
      privateNetworks: readPrivateNetworks([]),
      resolveHost: async () => ["93.184.215.14"],
      dialAs: () => "127.0.0.1",
      ca: authority.ca,
      ...changed,
    });
    closers.push(guarded.close);
    return (url: string, timeoutMs = 10_000) =>
      guarded.post({
        tenantId: "tenant",
        url,
        headers: { "webhook-id": "dlv_1" },
        body: '{"a":1}',
        timeoutMs,
      });
  }

  return { authority, own, listening, poster };
}
