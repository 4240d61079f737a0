import { contractCheck, NotOffered } from "../engine/check.js";
import { compareDecimals, parseDecimal, parseScientific } from "../engine/decimal.js";
import { type Kit, membersOf } from "../engine/kit.js";
import { describeReply, isRefusal } from "../http/reply.js";
import { numberAmount } from "./key-scenarios.js";
import { expectRefused, requireId, sharedTransaction, showTransaction } from "./scenarios.js";
import { expectShown, shownMember } from "./shown-members.js";

const create = "tx.create.admitted";
const own = "tx.get.own";
const row = { needs: [create], writes: ["transaction"] } as const;

const malformedBody = (kit: Kit) =>
  kit.fixture("malformed JSON", (its) => {
    const { asset, amount } = its.target.transaction;
    return its.create({ body: JSON.stringify({ reference: its.newName(), asset, amount }).slice(0, -1) });
  });

export { malformedBody };

/** RFC 8259 allows none of these, except a string, which is no object. */
const almostJson: readonly [what: string, change: (valid: string) => string][] = [
  ["JSON with a comma before the closing brace", (valid) => `${valid.slice(0, -1)},}`],
  ["JSON with a comment", (valid) => `{/* paid */${valid.slice(1)}`],
  ["JSON with single quotes", (valid) => valid.replaceAll('"', "'")],
  ["JSON with further text after it", (valid) => `${valid} paid`],
  ["a JSON string", (valid) => JSON.stringify(valid)],
];

/** Amounts that some programs take for a decimal number: with a comma, with a line break after it, in the digits of another script. */
const oddAmounts = (amount: string) => [
  amount.includes(".") ? amount.replace(".", ",") : `${amount},0`,
  `${amount}\n`,
  amount.replace(/\d/g, (digit) => String.fromCodePoint(0x0660 + Number(digit))),
];

/** The body of a create request, and how its members come back. */
export const bodyChecks = [
  contractCheck(
    "body.amount.number",
    "2.amount",
    "An amount that is a JSON number is not accepted.",
    row,
    async (kit) => {
      expectRefused((await numberAmount(kit)).reply, "an amount that is a JSON number");
    },
  ),
  contractCheck(
    "body.amount.word",
    "2.amount",
    "An amount that is not a decimal number is not accepted.",
    row,
    async (kit) => {
      expectRefused(
        (await kit.create({ fields: { amount: "a lot" } })).reply,
        'the amount "a lot", which is not a decimal number',
      );
    },
  ),
  contractCheck(
    "body.amount.type",
    "2.amount",
    "An amount that is a JSON integer, a list, an object or a boolean is not accepted.",
    { ...row, unlessFailed: ["body.amount.number"] },
    async (kit) => {
      const { amount } = kit.target.transaction;
      const samples: [what: string, value: unknown][] = [
        ["a list", [amount]],
        ["an object", { value: amount }],
        ["a boolean", true],
      ];
      // Not more than the target file calls safe.
      if (Number(amount) >= 1) samples.unshift(["a JSON integer", Math.floor(Number(amount))]);
      for (const [what, value] of samples)
        expectRefused((await kit.create({ fields: { amount: value } })).reply, `an amount that is ${what}`);
    },
  ),
  contractCheck(
    "body.amount.decimal",
    "2.amount",
    "A string that only begins as a decimal number, or is one elsewhere, is not accepted.",
    { ...row, unlessFailed: ["body.amount.word"] },
    async (kit) => {
      const { amount } = kit.target.transaction;
      const hexadecimal = Number(amount) >= 1 ? ["0x1"] : [];
      for (const text of [`${amount}abc`, "", "NaN", `--${amount}`, `${amount}.0.1`, ...hexadecimal])
        expectRefused(
          (await kit.create({ fields: { amount: text } })).reply,
          `the amount "${text}", which is not a decimal number`,
        );
      const accepted: string[] = [];
      for (const text of oddAmounts(amount))
        if (!isRefusal((await kit.create({ fields: { amount: text } })).reply))
          accepted.push(JSON.stringify(text));
      if (accepted.length > 0)
        kit.warn(
          `The amount ${accepted.join(" and ")} is accepted. The contract does not say how a decimal number is written; a client cannot know what this one is taken for.`,
        );
    },
  ),
  contractCheck(
    "body.reference.number",
    "2.reference",
    "A reference that is a JSON number is not accepted.",
    row,
    async (kit) => {
      expectRefused(
        (await kit.create({ fields: { reference: 20_260_001 } })).reply,
        "a reference that is a JSON number",
      );
    },
  ),
  contractCheck(
    "body.asset.number",
    "2.asset",
    "An asset that is a JSON number is not accepted.",
    row,
    async (kit) => {
      expectRefused((await kit.create({ fields: { asset: 840 } })).reply, "an asset that is a JSON number");
    },
  ),
  contractCheck("body.form", "4.rule-3", "A form is not accepted as the body.", row, async (kit) => {
    const { asset, amount } = kit.target.transaction;
    const body = new URLSearchParams({ reference: kit.newName(), asset, amount }).toString();
    const { reply } = await kit.create({ body, contentType: "application/x-www-form-urlencoded" });
    expectRefused(reply, "a form as the body of a create request");
  }),
  contractCheck("body.malformed", "4.rule-3", "Malformed JSON is not accepted.", row, async (kit) => {
    expectRefused((await malformedBody(kit)).reply, "a body that is not JSON");
  }),
  contractCheck(
    "body.strict",
    "4.rule-3",
    "What is almost a JSON object is not accepted.",
    { ...row, unlessFailed: ["body.malformed"] },
    async (kit) => {
      for (const [what, change] of almostJson) {
        const valid = JSON.stringify(membersOf(kit, kit.newName()));
        expectRefused((await kit.create({ body: change(valid) })).reply, `${what} as the body`);
      }
      const body = JSON.stringify(membersOf(kit, `${kit.newName()}\xff`));
      // RFC 8259 lets parsers accept more than JSON, so what stands for the byte is open.
      if (!isRefusal((await kit.create({ body, bodyEncoding: "latin1" })).reply))
        kit.warn(
          "A body with a byte that is not UTF-8 is accepted, and JSON is UTF-8 (RFC 8259, section 8.1). References that differ only in such bytes can become one.",
        );
    },
  ),
  contractCheck(
    "body.array",
    "4.post-transactions",
    "A JSON array is not accepted as the body.",
    row,
    async (kit) => {
      const { asset, amount } = kit.target.transaction;
      const { reply } = await kit.create({
        body: JSON.stringify([{ reference: kit.newName(), asset, amount }]),
      });
      expectRefused(reply, "an array as the body of a create request");
    },
  ),
  contractCheck("body.empty", "4.rule-3", "An empty body is not accepted.", row, async (kit) => {
    expectRefused((await kit.create({ body: "" })).reply, "an empty body");
  }),
  contractCheck(
    "shown.amount.string",
    "2.amount",
    "An amount that is shown is a string.",
    { ...row, needs: [own] },
    async (kit) => {
      const { id } = await sharedTransaction(kit);
      const { json } = await showTransaction(kit, id);
      const isString = (value: unknown) => typeof value === "string";
      if (kit.target.shown.amount === undefined) expectAmount(kit, json, kit.target.transaction.amount);
      else expectShown(kit, json, { name: "amount", sent: "as a string", isSame: isString });
    },
  ),
  contractCheck(
    "shown.amount.equal",
    "2.amount",
    "The amount that is shown is the one that was requested.",
    { ...row, needs: ["shown.amount.string"] },
    async (kit) => {
      const { id } = await sharedTransaction(kit);
      expectAmount(kit, (await showTransaction(kit, id)).json, kit.target.transaction.amount);
    },
  ),
  contractCheck(
    "shown.amount.exact",
    "2.amount",
    "An amount that a double cannot carry is shown exactly.",
    { ...row, needs: ["shown.amount.equal"] },
    async (kit) => {
      const { exact } = kit.target;
      if (exact === undefined)
        throw new NotOffered("The target file names no amount with 17 or more significant digits (exact).");
      const { reply } = await kit.create({ fields: exact });
      if (isRefusal(reply)) {
        kit.warn(
          `The amount ${exact.amount} ${exact.asset} of the target file was refused: ${describeReply(reply)}.`,
        );
        return;
      }
      const { json } = await showTransaction(kit, requireId(kit.target, reply));
      expectAmount(kit, json, exact.amount, true);
    },
  ),
  contractCheck(
    "shown.reference",
    "2.reference",
    "A reference comes back as it was sent, also beyond ASCII.",
    { ...row, needs: [own], unlessFailed: ["tx.get.state"] },
    async (kit) => {
      const shared = await sharedTransaction(kit);
      const plain = shownMember(kit.target, (await showTransaction(kit, shared.id)).json, "reference");
      const { characters } = kit.session.reference;
      if (characters !== undefined)
        throw new NotOffered(`References have no other characters than ${characters}.`);
      const reference = `${kit.newName()}-é–✓`;
      const { reply } = await kit.create({ fields: { reference } });
      if (isRefusal(reply))
        throw new NotOffered(
          `References such as ${reference} are refused, and may be. If only their length is restricted, state reference.max_length of the target file.`,
        );
      expectShown(kit, (await showTransaction(kit, requireId(kit.target, reply))).json, {
        name: "reference",
        sent: reference,
        isSame: (value) => value === reference,
        isPlaceKnown: plain === shared.reference,
      });
    },
  ),
  contractCheck(
    "shown.reference.exact",
    "2.reference",
    "A reference that is accepted is not changed: case, spaces, markup and characters beyond U+FFFF stay.",
    { ...row, needs: [own], unlessFailed: ["shown.reference"] },
    async (kit) => {
      const shared = await sharedTransaction(kit);
      const plain = shownMember(kit.target, (await showTransaction(kit, shared.id)).json, "reference");
      const parts = ["AbC", "😀𝄞", "<b>&amp;'", " x  y "];
      const isShown = async (part: string) => {
        const reference = `${kit.newName()}${part}`;
        const { reply } = await kit.create({ fields: { reference } });
        if (isRefusal(reply)) return false;
        expectShown(kit, (await showTransaction(kit, requireId(kit.target, reply))).json, {
          name: "reference",
          sent: JSON.stringify(reference),
          isSame: (value) => value === reference,
          isPlaceKnown: plain === shared.reference,
        });
        return true;
      };
      if (await isShown(parts.join(""))) return;
      let accepted = 0;
      for (const part of parts) accepted += (await isShown(part)) ? 1 : 0;
      if (accepted === 0) throw new NotOffered("References with such characters are refused, and may be.");
    },
  ),
  contractCheck(
    "shown.asset",
    "2.asset",
    "The asset that is shown is the one that was requested.",
    { ...row, needs: [own] },
    async (kit) => {
      const { id } = await sharedTransaction(kit);
      const { asset } = kit.target.transaction;
      expectShown(kit, (await showTransaction(kit, id)).json, {
        name: "asset",
        sent: asset,
        isSame: (value) => value === asset,
      });
    },
  ),
];

function expectAmount(kit: Kit, json: unknown, sent: string, isPlaceKnown = false): void {
  const wanted = parseDecimal(sent);
  const isSame = (value: unknown) => {
    const amount = typeof value === "string" ? parseScientific(value) : undefined;
    return amount !== undefined && wanted !== undefined && compareDecimals(amount, wanted) === 0;
  };
  expectShown(kit, json, { name: "amount", sent, isSame, isPlaceKnown });
}
