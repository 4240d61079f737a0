import { assert, property, uuid } from "fast-check";
import { describe, expect, it } from "vitest";
import { isTypeId, typeIdFromUuid, uuidFromTypeId } from "./type-id.js";

// From the valid.yml of the TypeID specification.
const vectors: [prefix: string, typeId: string, uuid: string][] = [
  ["nil", "nil_00000000000000000000000000", "00000000-0000-0000-0000-000000000000"],
  ["one", "one_00000000000000000000000001", "00000000-0000-0000-0000-000000000001"],
  ["ten", "ten_0000000000000000000000000a", "00000000-0000-0000-0000-00000000000a"],
  ["max", "max_7zzzzzzzzzzzzzzzzzzzzzzzzz", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
  ["prefix", "prefix_0123456789abcdefghjkmnpqrs", "0110c853-1d09-52d8-d73e-1194e95b5f19"],
  ["prefix", "prefix_01h455vb4pex5vsknk084sn02q", "01890a5d-ac96-774b-bcce-b302099a8057"],
];

describe("TypeID", () => {
  it.each(vectors)("agrees with the specification's vector %s %s", (prefix, typeId, uuidText) => {
    expect(typeIdFromUuid(prefix, uuidText)).toBe(typeId);
    expect(uuidFromTypeId(prefix, typeId)).toBe(uuidText);
  });

  it("converts back to the same UUID", () =>
    assert(property(uuid(), (text) => uuidFromTypeId("tx", typeIdFromUuid("tx", text)) === text)));

  it.each([
    ["another prefix", "wlt_01h455vb4pex5vsknk084sn02q"],
    ["no separator", "tx01h455vb4pex5vsknk084sn02q"],
    ["another separator", "tx-01h455vb4pex5vsknk084sn02q"],
    ["too short", "tx_01h455vb4pex5vsknk084sn02"],
    ["too long", "tx_01h455vb4pex5vsknk084sn02qq"],
    ["more than 128 bits", "tx_81h455vb4pex5vsknk084sn02q"],
    ["upper case", "tx_01H455VB4PEX5VSKNK084SN02Q"],
    ["a letter outside the alphabet", "tx_01h455vb4pex5vsknk084sn02u"],
    ["nothing", ""],
  ])("refuses %s", (_, text) => {
    expect(isTypeId("tx", text)).toBe(false);
  });

  it("throws on a malformed UUID, which is a bug of the caller", () => {
    expect(() => typeIdFromUuid("tx", "01890a5d")).toThrow("not a UUID");
  });
});
