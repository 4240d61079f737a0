import { randomUUID } from "node:crypto";
import type { Answer } from "./other-answers.js";
import type { Chose } from "./other-choices.js";
import type { Order } from "./other-server.js";
import { closeDigits, smallNumbers, twoRecords, understood } from "./other-webhooks.js";

const encodedSlashes = "ids with slashes, percent-encoded in a header of their own";

const carriedOutTwice =
  "a transaction of many that is carried out twice, with a fee of another amount beside each";
export const keysIgnored =
  "no id in the 202, one in notifications for which GET shows what was sent, and keys that are ignored";
export const idsElsewhere = [
  "no id in the 202, and one in notifications for which GET shows what was sent",
  keysIgnored,
] as const;
/** The record beside a transaction: a fee, or that of the other wallet. */
export function feeOf(chose: Chose, id: string, order: Order): Order {
  const amount = amountFees.some(chose) ? "0.03" : order.amount;
  const namesPayment = chose(namedPayment) || counterpartChoices.some(chose);
  return { ...order, amount, ...(namesPayment ? { payment: id } : {}) };
}

/** Choices with fees whose amount GET shows. */
const amountFees = ["a fee of another amount beside each transaction", carriedOutTwice] as const;

export const behindChoices = [
  "GET behind the notification",
  "GET behind the notification, which the target file allows",
  "GET behind the notification, which the target file excludes",
] as const;
export const carriedOutChoices = [
  "repetitions that are refused and carried out",
  "repetitions that are refused and carried out, and notifications that name only the reference",
  "repetitions that are refused and carried out, with a fee beside each transaction",
] as const;
/** The fee is final at once. */
const namedPayment = "a fee beside each transaction, whose notifications name its payment";
/** One of many transactions is carried out twice. */
export const twiceChoices = [carriedOutTwice, twoRecords] as const;
/** Double entry: the record of the other wallet has the same reference and amount. */
const counterpartChoices = ["a record of the other wallet beside each transaction", twoRecords] as const;
export const feeChoices = [
  ...counterpartChoices,
  namedPayment,
  "a fee beside each transaction, with its reference",
  "repetitions that are refused and carried out, with a fee beside each transaction",
  ...amountFees,
] as const;

/** The id of a new order, of which there are so many. */
export function newOrderId(chose: Chose, count: number): string {
  if (chose("large numbers as ids")) return String(10n ** 18n + BigInt(count * 256 + 1));
  if (smallNumbers.some(chose)) return String(count);
  if (chose(closeDigits)) return String(2n ** 53n + BigInt(count));
  if (chose("ids that end with an underscore")) return `${randomUUID()}_`;
  const hasSlashes = chose("ids with slashes in a header of their own") || chose(encodedSlashes);
  return hasSlashes ? `order/${count}/${randomUUID()}` : randomUUID();
}

/** The header that has an id which is no address; undefined if `Location` has it. */
export function orderHeader(chose: Chose, id: string): Record<string, string> | undefined {
  if (chose(encodedSlashes)) return { "x-other-order": encodeURIComponent(id) };
  return chose("ids with slashes in a header of their own") ? { "x-other-order": id } : undefined;
}

/** What else GET shows, under names that mean other things elsewhere. */
export function showMembers(chose: Chose, id: string, order: Order): Record<string, unknown> {
  const { reference, amount } = order;
  if (counterpartChoices.some(chose))
    return { reference, amount, wallet_id: order.payment === undefined ? "customers" : "clearing" };
  if ([...amountFees, ...idsElsewhere].some(chose)) return { reference, amount };
  const showsReference =
    chose("keys that are forgotten if the client hangs up") ||
    chose("repetitions that are refused and carried out") ||
    chose("repetitions that are refused and carried out, with a fee beside each transaction") ||
    chose("a fee beside each transaction, with its reference");
  if (showsReference) return { reference };
  if (chose("one request at a time, and replicas that are behind")) return { id };
  if (chose("a price and a reference that are new at each GET"))
    return { id, reference: randomUUID(), asset: { code: "POINTS", price: Math.random() } };
  if (chose("amounts in minor units")) return { id, amount: "300" };
  if (chose("an amount that is an object")) return { id, amount: { value: "3", unit: "POINTS" } };
  if (chose("amounts with a sign")) return { id, amount: "+3.00" };
  if (chose("amounts with an exponent")) return { id, amount: "0.3E+1" };
  if (chose("an amount net of a fee")) return { id, amount: "2.97", fee: "0.03" };
  if (chose("an asset that is an object")) return { id, asset: { code: "POINTS-2", network: "internal" } };
  if (chose("a reference of the service's own beside the id"))
    return { id, reference: `SRV-${id.slice(0, 8)}` };
  return {};
}

export function showBook(chose: Chose): Answer {
  const isCsv = chose("a book in CSV") || chose("a book in CSV, also without the prefix");
  return isCsv ? { status: 200, text: "side,price,size\nbid,99,1\nask,101,2\n" } : { status: 200, body: [] };
}

/** The amount that a request asks for. */
export const amountOf = (chose: Chose, { amount }: Record<string, unknown>) =>
  chose(understood) ? String(amount).trim().replace(",", ".") : String(amount);

export const isStateRenamed = (chose: Chose) =>
  chose("a state under another name, which the target file does not say") ||
  chose("a state under another name") ||
  chose("an envelope whose status is called as a final state, and a state that is named") ||
  chose("an envelope with a status, and a state that the target file does not name");

/** The status of everything that is not an error. */
export function envelopeOf(chose: Chose): string | undefined {
  if (chose("an envelope with a status, and a state that the target file does not name")) return "ok";
  const isLikeState =
    chose("an envelope whose status is called as a final state") ||
    chose("an envelope whose status is called as a final state, and a state that is named");
  return isLikeState ? "DONE" : undefined;
}
