import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { createComponents } from "./components.js";

const Fee = Type.Object({ amount: Type.String() }, { $id: "Fee" });
const Payment = Type.Object(
  { fee: Type.Union([Fee, Type.Null()]), refunds: Type.Array(Fee) },
  { $id: "Payment" },
);

describe("components", () => {
  it("are written once, and referenced wherever they are used", () => {
    const { schemas, reference } = createComponents();
    expect(reference(Type.Array(Payment))).toEqual({
      type: "array",
      items: { $ref: "#/components/schemas/Payment" },
    });
    expect(Object.keys(schemas).sort()).toEqual(["Fee", "Payment"]);
    expect(schemas["Payment"]).toMatchObject({
      properties: {
        fee: { anyOf: [{ $ref: "#/components/schemas/Fee" }, { type: "null" }] },
        refunds: { items: { $ref: "#/components/schemas/Fee" } },
      },
    });
    expect(JSON.stringify(schemas)).not.toContain("$id");
  });

  it("cannot have the same name and differ", () => {
    const { reference } = createComponents();
    reference(Payment);
    expect(() => reference(Type.Object({}, { $id: "Fee" }))).toThrow(
      "two different schemas have the $id Fee",
    );
  });
});
