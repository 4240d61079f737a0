import { isObject } from "../../http/reply.js";
import { textOf } from "../../webhooks/delivery-items.js";

/**
 * A ledger with double entry can have two records of one transaction, with its reference and amount: one for each wallet. They differ in what
 * says on which side a record is. One that was carried out twice has both times the same there.
 */
const side =
  /^(direction|side|leg|type|kind|role|source|destination|from|to|payer|payee|sender|recipient|receiver|counterparty|owner|holder|debit(ed|or)?|credit(ed|or)?|(.*_)?(wallet|account|entry)(_.*)?|.*(Wallet|Account|Entry|Type|Direction)(Id)?)$/;

/** What names one that is an object. */
const naming = /^(id|name|code|label)$/;

/** The values of such members, by their paths. */
function sidesOf(json: unknown): Map<string, string> {
  const sides = new Map<string, string>();
  const look = (value: unknown, path: string, isWithin: boolean) => {
    if (!isObject(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      const isSide = side.test(name);
      const text = typeof inner === "boolean" ? String(inner) : textOf(inner);
      if (text !== undefined && (isSide || (isWithin && naming.test(name))))
        sides.set(`${path}.${name}`, text);
      look(inner, `${path}.${name}`, isSide);
    }
  };
  look(json, "", false);
  return sides;
}

/** Whether one of two records is the counterpart of the other: they differ in a member of both, or each has one that the other lacks. */
export function areCounterparts(one: unknown, other: unknown): boolean {
  const [own, its] = [sidesOf(one), sidesOf(other)];
  const isOther = ([path, text]: [string, string]) => its.has(path) && its.get(path) !== text;
  const lacks = (sides: ReadonlyMap<string, string>, all: ReadonlyMap<string, string>) =>
    [...all.keys()].some((path) => !sides.has(path));
  return [...own].some(isOther) || (lacks(own, its) && lacks(its, own));
}
