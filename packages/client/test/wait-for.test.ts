import { expect, it } from "vitest";
import { json, scriptedService } from "./harness/scripted-service.js";

const at = (version: number, state: string) =>
  json(200, { id: "tx_1", state, version }, { etag: `"${version}"` });
const unchanged = () => new Response(null, { status: 304 });

it("waiting for a result asks again at once after a change", async () => {
  const { bursar, requests, runtime } = scriptedService([
    at(1, "accepted"),
    at(2, "processing"),
    at(3, "broadcast"),
    at(4, "completed"),
  ]);
  expect(await bursar.transactions.waitFor("tx_1")).toMatchObject({ state: "completed" });
  expect(runtime.pauses).toEqual([]);
  const tags = requests.map(({ headers }) => new Headers(headers).get("if-none-match"));
  expect(tags).toEqual([null, '"1"', '"2"', '"3"']);
});

it("waiting for a result pauses if what lies between does not delay responses", async () => {
  const { bursar, runtime } = scriptedService([
    at(1, "accepted"),
    unchanged(),
    at(1, "accepted"),
    at(2, "completed"),
  ]);
  expect(await bursar.transactions.waitFor("tx_1")).toMatchObject({ state: "completed" });
  expect(runtime.pauses).toEqual([1000, 1000]);
});
