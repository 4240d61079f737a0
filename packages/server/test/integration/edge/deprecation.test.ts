import { deprecated } from "@bursar/protocol";
import { Type } from "typebox";
import { afterEach, describe, expect, it } from "vitest";
import { defineRoute } from "../../../src/http/route.js";
import { createTestEdge, type TestEdge } from "../../harness/http/test-edge.js";

const ending = { since: "2026-03-01", sunset: "2027-03-01", link: "https://bursar.example/new-way" };
const common = {
  access: "open",
  tag: "Operations",
  summary: "A route of the test",
  success: { status: 200, schema: Type.Unknown(), description: "Anything." },
  errors: [],
} as const;

const wholeRoute = defineRoute(
  { ...common, method: "GET", path: "/v1/old", operationId: "old", deprecated: ending },
  () => ({ ok: true }),
);
const withField = defineRoute(
  {
    ...common,
    method: "POST",
    path: "/v1/fields",
    operationId: "fields",
    body: Type.Object({
      name: Type.String(),
      colour: Type.Optional(Type.String(deprecated(ending))),
      side: Type.Optional(Type.Object({ old_id: Type.Optional(Type.String(deprecated(ending))) })),
    }),
    query: Type.Object({ old: Type.Optional(Type.String(deprecated(ending))) }),
  },
  () => ({ ok: true }),
);

const headers = {
  deprecation: "@1772323200",
  sunset: "Mon, 01 Mar 2027 00:00:00 GMT",
  link: '<https://bursar.example/new-way>; rel="deprecation", <https://bursar.example/new-way>; rel="sunset"',
};
const beforeTheDay = Date.parse("2027-02-28T23:59:59Z");
const onTheDay = Date.parse("2027-03-01T00:00:00Z");

describe("a deprecated route or field", () => {
  let edge: TestEdge | undefined;
  afterEach(() => edge?.app.close());
  const at = async (nowMs: number) => {
    edge = await createTestEdge([wholeRoute, withField], { now: () => nowMs });
    return edge.app;
  };
  const post = (payload: object, query = "") => ({
    method: "POST" as const,
    url: `/v1/fields${query}`,
    payload,
  });

  it("is served before its sunset, with a notice in every response", async () => {
    const response = await (await at(beforeTheDay)).inject("/v1/old");
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject(headers);
  });

  it("is refused from its sunset on", async () => {
    const response = await (await at(onTheDay)).inject("/v1/old");
    expect(response.statusCode).toBe(410);
    expect(response.headers).toMatchObject(headers);
    expect(response.json().error).toMatchObject({ code: "API_VERSION_SUNSET" });
    expect(response.json().error.message).toContain(ending.link);
  });

  it.each([
    ["in the body", post({ name: "a", colour: "red" }), "body.colour"],
    ["inside an object", post({ name: "a", side: { old_id: "b" } }), "body.side.old_id"],
    ["in the query", post({ name: "a" }, "?old=1"), "query.old"],
  ])(
    "can be a field %s: requests that use it get a notice, and are refused from its sunset on",
    async (_where, request, field) => {
      const before = await (await at(beforeTheDay)).inject(request);
      expect([before.statusCode, before.headers["sunset"]]).toEqual([200, headers.sunset]);
      await edge?.app.close();
      const after = await (await at(onTheDay)).inject(request);
      expect(after.statusCode).toBe(410);
      expect(after.json().error.message).toContain(field);
    },
  );

  it("does not affect requests without the field", async () => {
    const response = await (await at(onTheDay)).inject(post({ name: "a", side: {} }));
    expect(response.statusCode).toBe(200);
    expect(response.headers["deprecation"]).toBeUndefined();
  });

  it("is marked in the OpenAPI document, with its future response", async () => {
    const { paths, components } = (await (await at(beforeTheDay)).inject("/openapi.json")).json();
    expect(paths["/v1/old"].get.deprecated).toBe(true);
    // Both deprecated routes of this test can end, so their response is a component.
    expect(paths["/v1/old"].get.responses[410].$ref).toBe("#/components/responses/Gone");
    expect(components.responses.Gone.description).toBe("Gone. `error.code` is `API_VERSION_SUNSET`.");
    expect(Object.keys(components.responses.Gone.headers)).toEqual(
      expect.arrayContaining(["Deprecation", "Sunset", "Link"]),
    );
    const { schema } = paths["/v1/fields"].post.requestBody.content["application/json"];
    expect(schema.properties.colour).toMatchObject({ deprecated: true, "x-deprecation": ending });
    expect(paths["/v1/fields"].post.responses[410]).toBeDefined();
  });
});

describe("other versions", () => {
  it.each([
    ["/v2/transactions", "version 2"],
    ["/v2", "version 2"],
    ["/v10/wallets?limit=1", "version 10"],
    ["/v0/wallets", "version 0"],
    ["/v1/nowhere", "No route matches"],
    ["/v2x", "No route matches"],
  ])("%s is not found, and says: %s", async (url, hint) => {
    const { app } = await createTestEdge();
    const response = await app.inject(url);
    expect([response.statusCode, response.json().error.code]).toEqual([404, "NOT_FOUND"]);
    expect(response.json().error.message).toContain(hint);
    await app.close();
  });
});
