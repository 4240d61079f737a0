import { createHmac, hkdfSync } from "node:crypto";
import type { JournalEntry } from "./journal-entry.js";

/**
 * Each line ends with a MAC over itself and the MAC before it, with a key that follows from the seed. A line that was changed, removed
 * or added by somebody who does not have the seed does not fit.
 */
export interface JournalChain {
  /** The line for an entry, with its line break. */
  readonly append: (entry: JournalEntry) => string;
  /** The entry of a line without its line break; undefined if it does not follow the lines before. */
  readonly read: (line: string) => JournalEntry | undefined;
  /** The MAC of the last line. */
  readonly head: () => string;
  readonly lines: () => number;
}

const macStart = ',"mac":"';
const macEnd = '"}';
const macLength = 64;
const suffixLength = macStart.length + macLength + macEnd.length;

export function createJournalChain(entropy: Uint8Array): JournalChain {
  const key = new Uint8Array(hkdfSync("sha256", entropy, "", "signer journal", 32));
  let head = "";
  let lines = 0;
  const macOf = (body: string) => createHmac("sha256", key).update(`${head}\n${body}`).digest("hex");
  const advance = (mac: string) => {
    head = mac;
    lines += 1;
  };
  return {
    head: () => head,
    lines: () => lines,
    append: (entry) => {
      const body = JSON.stringify(entry).slice(0, -1);
      const mac = macOf(body);
      advance(mac);
      return `${body}${macStart}${mac}${macEnd}\n`;
    },
    read: (line) => {
      const body = line.slice(0, -suffixLength);
      const mac = macOf(body);
      if (line !== `${body}${macStart}${mac}${macEnd}`) return undefined;
      advance(mac);
      return JSON.parse(`${body}}`) as JournalEntry;
    },
  };
}
