import { grantableScopes, type Scope } from "@bursar/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { listRoutes } from "../../../src/http/api.js";
import type { Route } from "../../../src/http/route.js";
import {
  bodyOf,
  createObjects,
  isOfTenant,
  pathOf,
  requiredQueryOf,
  unknownIds,
} from "../../harness/http/route-requests.js";
import { sharedService } from "../../harness/service/shared-service.js";
import type { TestClient } from "../../harness/service/test-service.js";

const service = await sharedService();

/**
 * Every route is called without permission: without a token, with every scope except the required one, and with another tenant's token on
 * this tenant's objects. The list comes from the routes themselves, so a new route is included automatically.
 */
const all = listRoutes({} as never, "");
const routes = all.filter((route) => route.access !== "open" && route.access !== "oauth");
const named = routes.map((route) => [`${route.method} ${route.path}`, route] as const);
/** The scopes of which a route requires one; none if it admits every valid token. */
const scopesOf = ({ access }: Route) => (typeof access === "string" ? [access as Scope] : access);

function withoutProbing(body: string): string {
  const { data } = JSON.parse(body) as { data: { outcome: string; code: string | null }[] };
  const isProbing = ({ outcome, code }: (typeof data)[number]) =>
    outcome === "refused" && code?.endsWith("_NOT_FOUND") === true;
  return JSON.stringify(data.filter((entry) => !isProbing(entry)));
}

describe("every route", () => {
  let owner: TestClient;
  let stranger: TestClient;
  /** Ids of the owner's objects, by the collection in their path. */
  let objects: Record<string, string>;

  beforeAll(async () => {
    owner = await service.createTenant();
    stranger = await service.createTenant();
    objects = await createObjects(service, await service.token(owner), owner.clientId);
  });

  const call = (route: Route, token: string | undefined) =>
    service.call(route.method, pathOf(route, objects) + requiredQueryOf(route), token, bodyOf(route));
  const codeOf = async (response: Response) => [
    response.status,
    ((await response.json()) as { error?: { code: string } }).error?.code,
  ];

  it("is in the matrix", () => {
    expect(routes.length).toBeGreaterThanOrEqual(9);
    expect(all.filter((route) => route.path.startsWith("/v1/"))).toEqual(routes);
  });

  it.each(named)("%s refuses a request without a token", async (_name, route) => {
    const response = await call(route, undefined);
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="bursar"');
    expect(await codeOf(response)).toEqual([401, "UNAUTHENTICATED"]);
  });

  it.each(named.filter(([, route]) => scopesOf(route).length > 0))(
    "%s refuses a token with every scope except the required one",
    async (_name, route) => {
      const others = grantableScopes.filter((scope) => !scopesOf(route).includes(scope)).join(" ");
      const response = await call(route, await service.token(owner, others));
      expect(response.headers.get("www-authenticate")).toContain(
        `error="insufficient_scope", scope="${scopesOf(route)[0]}"`,
      );
      expect(await codeOf(response)).toEqual([403, "INSUFFICIENT_SCOPE"]);
    },
  );

  it("admits every valid token only to what concerns the client itself", () => {
    const open = routes.filter((route) => scopesOf(route).length === 0);
    expect(open.map(({ path }) => path)).toEqual([
      "/v1/me",
      "/v1/me/secrets",
      "/v1/me/passkeys",
      "/v1/me/passkeys/options",
      "/v1/me/passkeys",
      "/v1/me/passkeys/:id",
      "/v1/me/passkeys/:id",
      "/v1/me/sessions",
      "/v1/me/sessions/:id",
    ]);
  });

  it.each(named.filter(([, route]) => isOfTenant(route)))(
    "%s hides from another tenant",
    async (_name, route) => {
      const response = await call(route, await service.token(stranger, scopesOf(route).join(" ")));
      const foreign = await response.json();
      const missing = await (
        await service.call(
          route.method,
          pathOf(route, unknownIds) + requiredQueryOf(route),
          await service.token(stranger),
          bodyOf(route),
        )
      ).json();
      expect(response.status).toBe(404);
      // Responses for foreign and missing objects differ only in the request id.
      const shown = ({ error }: { error: { code: string; message: string } }) => [error.code, error.message];
      const sameAsMissing = shown(missing as never);
      if (/^[^:]*:\w+$/.test(route.path)) expect(shown(foreign as never)).toEqual(sameAsMissing);
      else expect(shown(foreign as never)[0]).toMatch(/_NOT_FOUND$/);
    },
  );

  it.each(named.filter(([, route]) => route.method === "GET" && !route.path.includes(":")))(
    "%s shows nothing of another tenant",
    async (_name, route) => {
      const body = await (await call(route, await service.token(stranger))).text();
      // The audit log shows a client's own attempts, with the ids that it named.
      const shown = route.path === "/v1/audit" ? withoutProbing(body) : body;
      for (const id of Object.values(objects)) expect(shown).not.toContain(id);
    },
  );
});
