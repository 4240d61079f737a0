import { isData, isObject } from "../rpc/read-response.js";
import { AnswerFault } from "../rpc/rpc-pool.js";

/** Readers of what nodes answer. Each throws `AnswerFault` if the value does not have the form that its field has. */

const quantityPattern = /^0x[0-9a-f]{1,64}$/i;
const hashPattern = /^0x[0-9a-f]{64}$/i;
const addressPattern = /^0x[0-9a-f]{40}$/i;

export function readRecord(value: unknown, name: string): Record<string, unknown> {
  if (!isObject(value)) throw new AnswerFault(`${name} is not an object`);
  return value;
}

export function readList(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new AnswerFault(`${name} is not a list`);
  return value;
}

export function readQuantity(value: unknown, name: string): bigint {
  if (typeof value !== "string" || !quantityPattern.test(value))
    throw new AnswerFault(`${name} is not a number`);
  return BigInt(value);
}

/** A number of at most so many bits. No gas or price of any chain is near its bound, and a product of them fits into a column. */
export function readBounded(value: unknown, name: string, bits: 64 | 96): bigint {
  const quantity = readQuantity(value, name);
  if (quantity >> BigInt(bits) !== 0n) throw new AnswerFault(`${name} is too large`);
  return quantity;
}

export function readNumber(value: unknown, name: string): number {
  const number = Number(readQuantity(value, name));
  if (!Number.isSafeInteger(number)) throw new AnswerFault(`${name} is too large`);
  return number;
}

export function readHash(value: unknown, name: string): string {
  if (typeof value !== "string" || !hashPattern.test(value)) throw new AnswerFault(`${name} is not a hash`);
  return value.toLowerCase();
}

export function readAddress(value: unknown, name: string): string {
  if (typeof value !== "string" || !addressPattern.test(value))
    throw new AnswerFault(`${name} is not an address`);
  return value.toLowerCase();
}

export function readData(value: unknown, name: string): string {
  if (!isData(value)) throw new AnswerFault(`${name} is not data`);
  return value.toLowerCase();
}
