import type { ChangeWebhookEndpointBody, WebhookEndpoint } from "@bursar/client";

/** What a person chooses of an endpoint. */
export interface EndpointFields {
  url: string;
  description: string;
  events: WebhookEndpoint["events"];
}

export type FieldName = keyof EndpointFields;

/** What a person has typed, by field, and what stood there when they began with it. A field that they left alone is not there. */
export type EndpointEdit = {
  [Name in FieldName]?: { before: EndpointFields[Name]; typed: EndpointFields[Name] } | undefined;
};

export function fieldsOf({ url, description, events }: WebhookEndpoint): EndpointFields {
  return { url, description: description ?? "", events };
}

/** The edit after a field was typed. What stood there before, typed again, is no change of the person. */
export function editField<Name extends FieldName>(
  edit: EndpointEdit,
  now: EndpointFields,
  name: Name,
  typed: EndpointFields[Name],
): EndpointEdit {
  const before = (edit[name]?.before ?? now[name]) as EndpointFields[Name];
  return { ...edit, [name]: isSame(before, typed) ? undefined : { before, typed } };
}

/** The fields as the form shows them. */
export function shownFields(edit: EndpointEdit, now: EndpointFields): EndpointFields {
  return {
    url: edit.url?.typed ?? now.url,
    description: edit.description?.typed ?? now.description,
    events: edit.events?.typed ?? now.events,
  };
}

/** The fields that the person wants otherwise than they are now. */
export function changedFields(edit: EndpointEdit, now: EndpointFields): FieldName[] {
  return fieldNames.filter((name) => {
    const change = edit[name];
    return change !== undefined && !isSame(change.typed, now[name]);
  });
}

/** Those of them that somebody else has changed too, to something else. */
export function conflictingFields(edit: EndpointEdit, now: EndpointFields): FieldName[] {
  return changedFields(edit, now).filter((name) => {
    const change = edit[name];
    return change !== undefined && !isSame(change.before, now[name]);
  });
}

/** What is sent: the fields that the person has changed, and no others. */
export function changeBodyOf(edit: EndpointEdit, now: EndpointFields): ChangeWebhookEndpointBody {
  const changed = changedFields(edit, now);
  const { url, description, events } = shownFields(edit, now);
  return {
    ...(changed.includes("url") && { url }),
    ...(changed.includes("events") && { events }),
    ...(changed.includes("description") && { description: description === "" ? null : description }),
  };
}

const fieldNames: readonly FieldName[] = ["url", "description", "events"];

type Value = EndpointFields[FieldName];

/** Events are chosen in any order. */
function isSame(one: Value, other: Value): boolean {
  const text = (value: Value) => (typeof value === "string" ? value : [...value].sort().join(" "));
  return text(one) === text(other);
}
