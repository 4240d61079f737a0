import { describe, expect, it } from "vitest";
import { integers } from "./setting.js";

describe("a setting of several numbers", () => {
  const setting = integers({ about: "" }, { min: 1, max: 100, countMax: 3 });

  it.each([
    ["5", "5"],
    ["5,100", "5,100"],
    [" 5 , 6, 007 ", "5,6,7"],
  ])("reads %j as %j", (written, read) => {
    expect(setting.read(written)).toBe(read);
  });

  it.each(["", ",", "5,", "0", "101", "1,2,3,4", "-5", "5;6", "5.5", "five"])("refuses %j", (written) => {
    expect(setting.read(written)).toBeUndefined();
  });
});
