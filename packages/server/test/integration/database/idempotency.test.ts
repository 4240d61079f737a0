import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listRoutes } from "../../../src/http/api.js";
import type { Route } from "../../../src/http/route.js";
import { bodyOf, createObjects, pathOf } from "../../harness/http/route-requests.js";
import { startTestService, type TestClient, type TestService } from "../../harness/service/test-service.js";

/** Every route that accepts an idempotency key. A new route is included automatically. */
const routes = listRoutes({} as never, "").filter(({ idempotent }) => idempotent !== undefined);

/** A second valid body, for routes whose body has neither a `reference` nor a `name` to change. */
const otherBodies: Record<string, unknown> = {
  addKey: { algorithm: "ed25519", public_key: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" },
  createDestination: { label: "other", network: "eip155:1", address: `0x${"2".repeat(40)}` },
  createWebhookEndpoint: { url: "https://other.example/hook" },
  rotateSecret: { overlap_seconds: 60 },
  rotateWebhookSecret: { overlap_seconds: 60 },
  resendFailedWebhooks: { created_before: "2021-01-01T00:00:00Z" },
};

let service: TestService;
beforeAll(async () => {
  // Resends and replays cost more than a small quota has.
  service = await startTestService({ "quotas.manage_burst": "10000", "quotas.bulk_burst": "10000" });
});
afterAll(() => service.stop());

describe.each(routes.map((route) => [route.operationId, route] as const))(
  "an idempotency key of %s",
  (_, route) => {
    let token: string;
    let objects: Record<string, string>;
    let owner: TestClient;
    /** Only the newest secret proves anything, so each key is first used with the one that is the newest then. */
    let newestSecret: string;
    const secrets = new Map<string, string>();
    const secretFor = (marker: string) => {
      const secret = secrets.get(marker) ?? newestSecret;
      secrets.set(marker, secret);
      return secret;
    };
    beforeAll(async () => {
      owner = await service.createTenant("1000");
      newestSecret = owner.secret;
      token = await service.token(owner);
      objects = await createObjects(service, token, owner.clientId);
      // Only the operator grants this scope.
      if (route.operationId === "createDeposit")
        token = (await service.createIndependentClient(owner, ["deposits:write"], "bank")).token;
    });

    function bodyFor(marker: string): unknown {
      const body = bodyOf(route) as Record<string, unknown> | undefined;
      switch (route.operationId) {
        case "createDestination":
          return {
            ...body,
            address: `0x${Buffer.from(marker).toString("hex").padEnd(40, "0").slice(0, 40)}`,
          };
        case "createChangeRequest":
          return { ...body, change: { client_id: objects["clients"], require_signature: true } };
        case "createDeposit":
          return { ...body, destination: { wallet_id: objects["wallets"] } };
        case "replayWebhooks":
          return { ...body, endpoint_id: objects["webhook-endpoints"] };
        case "invitePerson":
          return { ...body, email: `${marker}@people.example` };
        case "rotateOwnSecret":
          return { ...body, current_secret: secretFor(marker) };
        default:
          return body;
      }
    }

    async function send(key: string, body: unknown, path = pathOf(route, objects)) {
      const answer = await service.call(route.method, path, token, body, { "idempotency-key": key });
      const shown = (await answer.json()) as Record<string, unknown>;
      // The tokens of a secret end with it.
      if (route.operationId === "rotateOwnSecret" && typeof shown["secret"] === "string") {
        newestSecret = shown["secret"];
        token = await service.token({ ...owner, secret: newestSecret });
      }
      return {
        status: answer.status,
        isReplayed: answer.headers.get("idempotent-replayed") === "true",
        body: withoutSecrets(shown),
      };
    }

    /** A repeated resend shows the delivery as it is now, and it may have been attempted meanwhile. */
    const shown = ({ body }: { body: Record<string, unknown> }) =>
      route.operationId === "resendWebhookDelivery" ? body["id"] : body;

    it("returns the same response to a repeated request", async () => {
      const first = await send("same", bodyFor("same"));
      const again = await send("same", bodyFor("same"));
      expect([first.isReplayed, again.isReplayed]).toEqual([false, true]);
      expect([again.status, shown(again)]).toEqual([first.status, shown(first)]);
    });

    it("is refused for a request with another body", async () => {
      await send("other", bodyFor("other"));
      const refused = await sendAnother(route, "other");
      expect([refused.status, (refused.body["error"] as { code: string }).code]).toEqual([
        422,
        "IDEMPOTENCY_KEY_REUSED",
      ]);
    });

    it("applies one of two concurrent requests, and returns the same response to both", async () => {
      const answers = await Promise.all([send("race", bodyFor("race")), send("race", bodyFor("race"))]);
      expect(answers.map(({ isReplayed }) => isReplayed).sort()).toEqual([false, true]);
      const [one, other] = answers.map(shown);
      expect(one).toEqual(other);
    });

    /** The same key with another body, or for another object if there is no body. */
    async function sendAnother({ operationId }: Route, key: string) {
      if (operationId === "resendWebhookDelivery") {
        const first = await send("another", undefined);
        return await send(key, undefined, `/v1/webhook-deliveries/${first.body["id"]}/resend`);
      }
      const body = bodyFor(key) as Record<string, unknown>;
      const changed =
        "reference" in body || "market" in body
          ? { ...body, reference: "other" }
          : { ...body, name: "other" };
      if (operationId === "createChangeRequest") return await send(key, { ...body, comment: "other" });
      if (operationId === "replayWebhooks") return await send(key, { ...body, from_sequence: 2 });
      if (operationId === "rotateOwnSecret") return await send(key, { ...body, overlap_seconds: 60 });
      return await send(key, otherBodies[operationId] ?? changed);
    }
  },
);

/** A secret is in the original response only, and when a credential was last used is written a little later. */
function withoutSecrets(body: Record<string, unknown>): Record<string, unknown> {
  const { secret: _secret, invitation: _link, key_id: _keyId, request_id: _requestId, key, ...rest } = body;
  const { secret: _keySecret, ...shown } = (key ?? {}) as Record<string, unknown>;
  const isUse = (name: string) => name === "last_used_at" && "client" in body;
  return JSON.parse(JSON.stringify({ ...rest, key: shown }, (name, value) => (isUse(name) ? null : value)));
}
