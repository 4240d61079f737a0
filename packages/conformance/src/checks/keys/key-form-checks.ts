import { contractCheck, NotOffered } from "../../engine/check.js";
import type { Kit } from "../../engine/kit.js";
import { isRefusal } from "../../http/reply.js";
import { foundCheck } from "../scenarios.js";
import { createTogether } from "../together-checks.js";
import { acceptTransaction, expectDistinct, expectTwo, expectTwoForms } from "./key-scenarios.js";

const earlier = [foundCheck, createTogether];
/** A second transaction is only seen by its id, so what is lost has to be known first. */
const row = { needs: ["tx.create.admitted"], unlessFailed: earlier, writes: ["transaction"] as const };
/** No longer than a UUID, which every target accepts that has not said otherwise. */
const keyLength = 35;
const digitsInNumber = 12;
/** As long as keys are at many services: of those that are accepted, the longest shows whether keys are cut before they are compared. */
const lengths = [300, 255, 192, 128, 100, 65, 40];

/** Two keys are two strings, however alike. Their length and their characters are open, so any of these may be refused. */
export const keyFormChecks = [
  contractCheck(
    "key.whole",
    "4.rule-2",
    "Keys are compared from their first character to their last one.",
    row,
    async (kit) => {
      const what = "two keys that differ in their last character";
      const names = lengths.map((length) => kit.newName().padEnd(length, "k"));
      const pairs = [...names, kit.newKey()].map(
        (name) => [`${name.slice(0, -1)}1`, `${name.slice(0, -1)}2`] as const,
      );
      // Letters, which are also digits of a UUID: a program can take the digits of a key alone.
      const end = kit.newKey().slice(1);
      const isBegun = await expectTwo(
        kit,
        [`a${end}`, `b${end}`],
        "two keys that differ in their first character",
      );
      for (const pair of pairs) if (await expectTwo(kit, pair, what)) return;
      if (!isBegun) throw new NotOffered(`Keys such as ${pairs.at(-1)?.[0]} are refused, and may be.`);
    },
  ),
  contractCheck(
    "key.case",
    "4.rule-2",
    "Keys that differ only in case are different keys.",
    { ...row, unlessFailed: [...earlier, "key.whole"] },
    async (kit) => {
      const name = `Key${kit.newKey().replaceAll("-", "")}`.slice(0, kit.session.keyLength ?? keyLength);
      const what = "two keys that differ in case";
      if (await expectTwo(kit, [name.toLowerCase(), name.toUpperCase()], what)) return;
      throw new NotOffered(`Keys such as ${name} are refused, and may be.`);
    },
  ),
  contractCheck(
    "key.punctuation",
    "4.rule-2",
    "Keys that differ only in where a hyphen or a space is, or after a comma or a colon, are different keys.",
    { ...row, unlessFailed: [...earlier, "key.case", "key.whole"] },
    async (kit) => {
      const letters = kit
        .newKey()
        .replaceAll("-", "")
        .slice(0, (kit.session.keyLength ?? keyLength) - 1);
      const at = (index: number, sign: string) => `${letters.slice(0, index)}${sign}${letters.slice(index)}`;
      const pairs: [keys: [string, string], what: string][] = [
        [[at(3, "-"), at(4, "-")], "where a hyphen is"],
        [[at(5, " "), at(6, " ")], "where a space is"],
        [[at(7, ",").slice(0, 9), at(7, ",").slice(0, 10)], "what is after a comma"],
        [[at(7, ":").slice(0, 9), at(7, ":").slice(0, 10)], "what is after a colon"],
      ];
      let accepted = 0;
      for (const [keys, what] of pairs)
        accepted += (await expectTwo(kit, keys, `two keys that differ in ${what}`)) ? 1 : 0;
      if (accepted === 0) throw new NotOffered(`Keys such as ${at(3, "-")} are refused, and may be.`);
    },
  ),
  contractCheck(
    "key.spelling",
    "4.rule-2",
    "Keys that are the same number, or the same after they are decoded, are different keys.",
    { ...row, unlessFailed: [...earlier, "key.case", "key.whole", "key.punctuation"] },
    async (kit) => {
      let accepted = 0;
      for (const [what, make] of likeKeys(kit.session.keyLength ?? keyLength))
        accepted += (await expectTwoForms(kit, () => make(kit), `two keys that differ in ${what}`)) ? 1 : 0;
      if (accepted === 0)
        throw new NotOffered("Keys with other characters than those of a UUID are refused, and may be.");
    },
  ),
  contractCheck(
    "key.distinct",
    "1.transactions",
    "The same body under two keys is two transactions, unless the second is refused.",
    { ...row, unlessFailed: [...earlier, "key.case"] },
    async (kit) => {
      const first = await acceptTransaction(kit);
      const { reply } = await kit.create({ body: first.body });
      if (isRefusal(reply))
        throw new NotOffered("The same body is refused under a second key, as a business rule may do.");
      await expectDistinct(kit, [first.reply, reply], "two transactions from one body under two keys");
    },
  ),
];

type KeyPair = [string, string];

/** Spellings that programs take for the same: as numbers, as parts of an address, as names. */
function likeKeys(length: number): readonly [what: string, make: (kit: Kit) => KeyPair][] {
  const letters = (kit: Kit, room: number) =>
    kit
      .newKey()
      .replaceAll("-", "")
      .slice(0, length - room);
  const digits = (kit: Kit, room: number) =>
    `1${letters(kit, room + 1)
      .replace(/\D/g, "7")
      .slice(0, digitsInNumber)}`.slice(0, length - room);
  return [
    ["an underscore or a hyphen", (kit) => around(letters(kit, 1), "_", "-")],
    ["a slash or an underscore", (kit) => around(letters(kit, 1), "/", "_")],
    ["a plus sign or a hyphen", (kit) => around(letters(kit, 1), "+", "-")],
    ["an equals sign at the end", (kit) => around(letters(kit, 1), "", "=", Number.POSITIVE_INFINITY)],
    ["%41 or A", (kit) => around(letters(kit, 3), "%41", "A")],
    ["a plus sign or a space", (kit) => around(letters(kit, 1), "+", " ")],
    ["a zero before a number", (kit) => around(digits(kit, 1), "", "0", 0)],
    ["how a number is written", (kit) => around(digits(kit, 3), "e3", "000", Number.POSITIVE_INFINITY)],
  ];
}

/** The same characters with one of two spellings among them, in the middle if not said otherwise. */
function around(text: string, one: string, other: string, at = Math.floor(text.length / 2)): KeyPair {
  return [`${text.slice(0, at)}${one}${text.slice(at)}`, `${text.slice(0, at)}${other}${text.slice(at)}`];
}
