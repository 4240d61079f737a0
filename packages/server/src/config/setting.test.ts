import { describe, expect, it } from "vitest";
import { baseUrl, databaseUrl, integers } from "./setting.js";

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

describe("the address of a service", () => {
  const { read } = baseUrl({ about: "" });

  it.each(["https://pay.example", "http://127.0.0.1:8080/", "https://pay.example/bursar"])(
    "may be %j",
    (url) => {
      expect(read(url)).toBe(url);
    },
  );

  it.each([
    "https://pay.example?a=1",
    "https://pay.example/#top",
    "https://ada:secret@pay.example",
    "https://ada@pay.example",
    "ftp://pay.example",
    "pay.example",
  ])("is not %j", (url) => {
    expect(read(url)).toBeUndefined();
  });
});

describe("the URL of a database", () => {
  it.each([
    ["postgres://me:secret@db/x", "postgres://me:********@db/x"],
    [
      "postgres://db/x?user=me&password=secret&sslmode=require",
      "postgres://db/x?user=me&password=********&sslmode=require",
    ],
    [
      "postgres://db/x?sslkey=/key.pem&sslpassword=secret",
      "postgres://db/x?sslkey=/key.pem&sslpassword=********",
    ],
    ["postgres://db/x?p%61ssword=secret", "postgres://db/x?p%61ssword=********"],
    ["postgres://db/x?%zz=secret", "postgres://db/x?%zz=********"],
  ])("is shown without its passwords: %s", (value, shown) => {
    expect(databaseUrl({ about: "" }).show(value)).toBe(shown);
  });
});
