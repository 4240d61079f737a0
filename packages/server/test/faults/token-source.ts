import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "../harness/service/test-service.js";

/** Well before a token expires, so that none expires during a request. */
const refreshMs = 5 * 60_000;

/** Access tokens, renewed in time, from any process that answers. */
export function createTokenSource(urls: readonly string[]) {
  const tokens = new Map<string, { token: string; atMs: number }>();

  async function request({ clientId, secret }: TestClient): Promise<string> {
    for (let attempt = 0; ; attempt++) {
      const response = await fetch(`${urls[attempt % urls.length]}/oauth/token`, {
        method: "POST",
        body: new URLSearchParams({
          grant_type: "client_credentials",
          client_id: clientId,
          client_secret: secret,
        }),
        signal: AbortSignal.timeout(15_000),
      }).catch(() => undefined);
      if (response?.ok) return ((await response.json()) as { access_token: string }).access_token;
      if (response?.status === 401) throw new Error(`a client was refused: ${await response.text()}`);
      await sleep(100);
    }
  }

  return async (client: TestClient): Promise<string> => {
    const known = tokens.get(client.clientId);
    if (known !== undefined && performance.now() - known.atMs < refreshMs) return known.token;
    const token = await request(client);
    tokens.set(client.clientId, { token, atMs: performance.now() });
    return token;
  };
}
