import { CreateTransactionBody } from "@bursar/protocol";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { listRoutes } from "./api.js";
import { compileValidator, describeFaults } from "./validation.js";

function faultsOf(schema: unknown, value: unknown) {
  const validate = compileValidator({ schema, httpPart: "body" });
  return validate(value) ? [] : describeFaults(validate.errors ?? [], "body");
}

describe("the faults of a destination, which is a wallet or an address", () => {
  const request = { reference: "r", asset: "USD", amount: "1" };
  it.each([
    [{ wallet_id: "wlt_1" }, []],
    [{ address: "0x1" }, []],
    [{ wallet_id: 5 }, [{ path: "body.destination.wallet_id", reason: "must be string" }]],
    [{ address: "" }, [{ path: "body.destination.address", reason: expect.stringContaining("1 character") }]],
    [{ wallet_id: "w", note: "x" }, [{ path: "body.destination.note", reason: "is not a known field" }]],
    [{}, [{ path: "body.destination", reason: "does not match any of the accepted forms" }]],
    [
      { wallet_id: "w", address: "0x1" },
      [{ path: "body.destination", reason: "does not match any of the accepted forms" }],
    ],
    ["wlt_1", [{ path: "body.destination", reason: "does not match any of the accepted forms" }]],
  ])("of %j are those of what the client most likely meant", (destination, faults) => {
    expect(faultsOf(CreateTransactionBody, { ...request, destination })).toEqual(faults);
  });
});

it("compiles the schemas of every route, which the service does when they are first used", () => {
  const schemas = listRoutes({} as never, "").flatMap(({ body, checkedBody, query, params }) => [
    { schema: checkedBody ?? body, httpPart: "body" },
    { schema: query, httpPart: "querystring" },
    { schema: params, httpPart: "params" },
  ]);
  const used = schemas.filter(({ schema }) => schema !== undefined);
  expect(used.length).toBeGreaterThan(50);
  for (const { schema, httpPart } of used)
    expect(typeof compileValidator({ schema, httpPart })({})).toBe("boolean");
});

it("keeps the faults of the last value apart from those of others", () => {
  const validate = compileValidator({ schema: Type.Object({ a: Type.String() }), httpPart: "body" });
  expect([validate({}), validate.errors?.length]).toEqual([false, 1]);
  expect([validate({ a: "b" }), validate.errors]).toEqual([true, null]);
});

it("says of a nullable string what is wrong with the string", () => {
  const schema = Type.Object({ note: Type.Union([Type.String({ maxLength: 2 }), Type.Null()]) });
  expect(faultsOf(schema, { note: "long" })).toEqual([
    { path: "body.note", reason: "must have at most 2 characters" },
  ]);
  expect(faultsOf(schema, { note: 5 })).toEqual([
    { path: "body.note", reason: "does not match any of the accepted forms" },
  ]);
});

it("names a pattern that a string does not match", () => {
  expect(faultsOf(Type.String({ pattern: "^a+$" }), "b")).toEqual([
    { path: "body", reason: "does not match ^a+$" },
  ]);
});
