import type { ByteSink } from "./byte-sink.js";

const key = Buffer.from('"transactions"');
const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Writes JSON as it arrives, and of each list that is called `transactions` only its brackets. */
export function createTransactionsCut({ write }: ByteSink): (piece: Uint8Array) => void {
  /** How much of the key has come; one more with its colon. */
  let matched = 0;
  /** How deep in a list it is. */
  let depth = 0;
  let isInString = false;
  let isEscaped = false;

  function match(byte: number): boolean {
    if (matched >= key.length && isSpace(byte)) return false;
    if (matched > key.length && byte === openBracket) return true;
    const isNext = matched === key.length ? byte === colon : key[matched] === byte;
    matched = isNext ? matched + 1 : byte === quote ? 1 : 0;
    return false;
  }

  function skip(byte: number): void {
    if (isInString) {
      if (byte === quote && !isEscaped) isInString = false;
      isEscaped = byte === backslash && !isEscaped;
    } else if (byte === quote) isInString = true;
    else if (byte === openBracket || byte === openBrace) depth += 1;
    else if (byte === closeBracket || byte === closeBrace) depth -= 1;
  }

  return (piece) => {
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] as number;
      if (depth > 0) {
        skip(byte);
        if (depth === 0) from = at;
      } else if (match(byte)) {
        write(piece.subarray(from, at + 1));
        matched = 0;
        depth = 1;
      }
    }
    if (depth === 0) write(piece.subarray(from));
  };
}
