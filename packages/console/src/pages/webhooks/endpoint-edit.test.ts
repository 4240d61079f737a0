import { expect, it } from "vitest";
import {
  changeBodyOf,
  conflictingFields,
  type EndpointEdit,
  type EndpointFields,
  editField,
  shownFields,
} from "./endpoint-edit";

const begun: EndpointFields = { url: "https://a", description: "", events: ["wallet.updated"] };

it("sends what the person has changed, whatever others have changed meanwhile", () => {
  const edit = editField({}, begun, "description", "treasury");
  const now: EndpointFields = { ...begun, url: "https://b", events: ["order.updated"] };
  expect(shownFields(edit, now)).toEqual({ ...now, description: "treasury" });
  expect(changeBodyOf(edit, now)).toEqual({ description: "treasury" });
  expect(conflictingFields(edit, now)).toEqual([]);
});

it("takes what stood there before, typed again, for no change", () => {
  const edit = editField(editField({}, begun, "url", "https://c"), begun, "url", begun.url);
  expect(changeBodyOf(edit, { ...begun, url: "https://b" })).toEqual({});
  const chosen = editField({}, { ...begun, events: ["order.updated", "wallet.updated"] }, "events", [
    "wallet.updated",
    "order.updated",
  ]);
  expect(chosen).toEqual({});
});

it("names a field that others have changed too, and not one that they have changed to the same", () => {
  const edit: EndpointEdit = {
    ...editField({}, begun, "description", "of Ada"),
    ...editField({}, begun, "events", ["*"]),
  };
  const now: EndpointFields = { ...begun, description: "of Bob", events: ["*"] };
  expect(conflictingFields(edit, now)).toEqual(["description"]);
  expect(changeBodyOf(edit, now)).toEqual({ description: "of Ada" });
  // Removing it is a change too.
  expect(changeBodyOf(editField({}, now, "description", ""), now)).toEqual({ description: null });
});
