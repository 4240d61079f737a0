import { isObject } from "../http/reply.js";
import { containsText, textOf, unwrap } from "./delivery-items.js";

/** One notification can be about several transactions: its body then has a list, and each item of the list is about one of them. */

/** The items of lists that are about one of these names; the whole body if it is no batch. */
export function partsAbout(value: unknown, names: readonly string[]): unknown[] {
  const inner = unwrap(value);
  const isMeant = (one: unknown) => names.some((name) => containsText(one, name));
  if (Array.isArray(inner)) return inner.filter(isMeant).flatMap((item) => partsAbout(item, names));
  if (!isObject(inner)) return [inner];
  const meant = Object.values(inner).map(unwrap).filter(isMeant);
  const parts = meant.map((member) => partsAbout(member, names));
  const isBatch = meant.length > 0 && meant.every((member, at) => isSplit(member, parts[at] ?? []));
  return isBatch ? parts.flat() : [inner];
}

const isSplit = (member: unknown, parts: readonly unknown[]) =>
  parts.every(isObject) && (Array.isArray(member) || parts[0] !== member);

/** A value at a path, with the item of the innermost list that it is in. */
interface FieldOfItem {
  readonly text: string;
  /** As JSON has it: only a number can have been rounded. */
  readonly value: unknown;
  /** Undefined if the path passes no list. */
  readonly item: unknown;
}

/** The strings and numbers at a path. A position in a list, such as the 0 of `items.0.id`, stands for every position. */
export function fieldsAt(json: unknown, path: string): FieldOfItem[] {
  let here: { value: unknown; item: unknown }[] = [{ value: json, item: undefined }];
  for (const name of path.split("."))
    here = here.flatMap(({ value, item }) => {
      const inner = unwrap(value);
      if (Array.isArray(inner)) return inner.map((one) => ({ value: one, item: one }));
      return isObject(inner) && Object.hasOwn(inner, name) ? [{ value: inner[name], item }] : [];
    });
  return here.flatMap(({ value, item }) => {
    const text = textOf(value);
    return text === undefined ? [] : [{ text, value, item }];
  });
}
