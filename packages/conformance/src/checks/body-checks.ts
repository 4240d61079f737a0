import { contractCheck } from "../engine/check.js";
import { type Attempt, type CreateOptions, type Kit, membersOf } from "../engine/kit.js";
import { isRefusal } from "../http/reply.js";
import { numberAmount } from "./keys/key-scenarios.js";
import { expectRefused } from "./scenarios.js";

const create = "tx.create.admitted";
const row = { needs: [create], writes: ["transaction"] } as const;

/** What is accepted although its form is wrong or open can be understood in more than one way, so these checks alone judge it. */
const probe = (kit: Kit, options: CreateOptions): Promise<Attempt> =>
  kit.create({ ...options, isProbe: true });

const malformedBody = (kit: Kit) =>
  kit.fixture("malformed JSON", (its) => {
    const { asset, amount } = its.target.transaction;
    return probe(its, { body: JSON.stringify({ reference: its.newName(), asset, amount }).slice(0, -1) });
  });

export { malformedBody };

/** RFC 8259 allows none of these. */
const almostJson: readonly [what: string, change: (valid: string) => string][] = [
  ["JSON with a comma before the closing brace", (valid) => `${valid.slice(0, -1)},}`],
  ["JSON with a comment", (valid) => `{/* paid */${valid.slice(1)}`],
  ["JSON with a line break inside of a string", (valid) => valid.replace('":"', '":"\n')],
  ["JSON with a name without quotes", (valid) => valid.replace('"reference"', "reference")],
  ["JSON with single quotes", (valid) => valid.replaceAll('"', "'")],
  ["JSON with a NUL character after it", (valid) => `${valid}\u0000`],
  ["JSON with a no-break space before it", (valid) => `\u00a0${valid}`],
  ["JSON with an escape of another language", (valid) => valid.replace('":"', '":"\\x41')],
  ["JSON with further text after it", (valid) => `${valid} paid`],
];

type Write = (members: readonly [string, string][]) => string;

const boundary = "conformance-boundary";

/** Other languages in which a program can read the same members. */
const otherForms: readonly [what: string, contentType: string, write: Write][] = [
  [
    "a form",
    "application/x-www-form-urlencoded",
    (members) => new URLSearchParams(Object.fromEntries(members)).toString(),
  ],
  [
    "a form in several parts",
    `multipart/form-data; boundary=${boundary}`,
    (members) =>
      `${members.map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join("")}--${boundary}--\r\n`,
  ],
  [
    "XML",
    "application/xml",
    (members) =>
      `<transaction>${members.map(([name, value]) => `<${name}>${value}</${name}>`).join("")}</transaction>`,
  ],
  ["YAML", "application/yaml", (members) => members.map(([name, value]) => `${name}: "${value}"\n`).join("")],
];

/** Amounts that some programs take for a decimal number: with a comma, spaces, a line break or an underscore, in digits of another script. */
const oddAmounts = (amount: string) => [
  ` ${amount}`,
  `${amount}_0`,
  `${amount} 0`,
  amount.includes(".") ? amount.replace(".", ",") : `${amount},0`,
  `${amount}\n`,
  `0,00${amount}`,
  amount.replace(/\d/g, (digit) => String.fromCodePoint(0x0660 + Number(digit))),
];

/** The same digits three places further to the right. */
function thousandth(amount: string): string {
  const [whole = "0", fraction = ""] = amount.split(".");
  const digits = whole.padStart(4, "0");
  return `${digits.slice(0, -3)}.${digits.slice(-3)}${fraction}`;
}

/** The body of a create request. */
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
        (await probe(kit, { fields: { amount: "a lot" } })).reply,
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
        expectRefused((await probe(kit, { fields: { amount: value } })).reply, `an amount that is ${what}`);
    },
  ),
  contractCheck(
    "body.amount.decimal",
    "2.amount",
    "A string that only begins as a decimal number, or is one elsewhere, is not accepted.",
    { ...row, unlessFailed: ["body.amount.word"] },
    async (kit) => {
      const { amount, asset } = kit.target.transaction;
      // None of them is more than the target file calls safe, whatever it is taken for.
      const otherBases = Number(amount) >= 1 ? ["0x1", "0b1", "1/2"] : [];
      const units = [
        `$${amount}`,
        `${amount} ${asset}`,
        `${amount}%`,
        `${amount}/2`,
        `${thousandth(amount)}k`,
      ];
      const begun = [
        `${amount}abc`,
        "",
        "NaN",
        `--${amount}`,
        `${amount}.0.1`,
        `${amount}\u0000`,
        `abc\n${amount}`,
        `${amount}\nabc`,
      ];
      for (const text of [...begun, ...units, ...otherBases])
        expectRefused(
          (await probe(kit, { fields: { amount: text } })).reply,
          `the amount ${JSON.stringify(text)}, which is not a decimal number`,
        );
      const accepted: string[] = [];
      for (const text of oddAmounts(amount))
        if (!isRefusal((await probe(kit, { fields: { amount: text } })).reply))
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
    "A reference that is a JSON number, a list, an object or a boolean is not accepted.",
    row,
    (kit) => refuseTypes(kit, "reference", { number: 20_260_001, text: kit.newName() }),
  ),
  contractCheck(
    "body.asset.number",
    "2.asset",
    "An asset that is a JSON number, a list, an object or a boolean is not accepted.",
    row,
    (kit) => refuseTypes(kit, "asset", { number: 840, text: kit.target.transaction.asset }),
  ),
  contractCheck(
    "body.form",
    "4.rule-3",
    "A form, XML or YAML is not accepted as the body.",
    row,
    async (kit) => {
      for (const [what, contentType, write] of otherForms) {
        const { asset, amount } = kit.target.transaction;
        const body = write(Object.entries({ reference: kit.newName(), asset, amount }));
        expectRefused(
          (await probe(kit, { body, contentType })).reply,
          `${what} as the body of a create request`,
        );
      }
    },
  ),
  contractCheck("body.malformed", "4.rule-3", "Malformed JSON is not accepted.", row, async (kit) => {
    expectRefused((await malformedBody(kit)).reply, "a body that is not JSON");
  }),
  contractCheck(
    "body.strict",
    "4.rule-3",
    "A JSON string that contains JSON is not accepted as the body, nor what is almost JSON.",
    { ...row, unlessFailed: ["body.malformed"] },
    async (kit) => {
      const valid = () => JSON.stringify(membersOf(kit, kit.newName()));
      expectRefused(
        (await probe(kit, { body: JSON.stringify(valid()) })).reply,
        "a JSON string as the body of a create request",
      );
      const accepted: string[] = [];
      for (const [what, change] of almostJson)
        if (!isRefusal((await probe(kit, { body: change(valid()) })).reply)) accepted.push(what);
      // The sentence binds the client, and the parsers of some languages read comments unless an option forbids it.
      if (accepted.length > 0)
        kit.warn(
          `The body is accepted if it is ${accepted.join(", or ")}. This is not JSON (RFC 8259), although section 9 lets parsers accept more; another parser can read something else in it.`,
        );
      const body = JSON.stringify(membersOf(kit, `${kit.newName()}\xff`));
      // RFC 8259 lets parsers accept more than JSON, so what stands for the byte is open.
      if (!isRefusal((await probe(kit, { body, bodyEncoding: "latin1" })).reply))
        kit.warn(
          "A body with a byte that is not UTF-8 is accepted, and JSON is UTF-8 (RFC 8259, section 8.1). References that differ only in such bytes can become one.",
        );
    },
  ),
  contractCheck(
    "body.array",
    "4.post-transactions",
    "A JSON array, null, a number or a boolean is not accepted as the body.",
    row,
    async (kit) => {
      const { asset, amount } = kit.target.transaction;
      const { reply } = await probe(kit, {
        body: JSON.stringify([{ reference: kit.newName(), asset, amount }]),
      });
      expectRefused(reply, "an array as the body of a create request");
      for (const body of ["null", "1", "true"])
        expectRefused((await probe(kit, { body })).reply, `${body} as the body of a create request`);
    },
  ),
  contractCheck(
    "body.empty",
    "4.rule-3",
    "An empty body is not accepted.",
    { ...row, unlessFailed: ["body.malformed"] },
    async (kit) => {
      expectRefused((await probe(kit, { body: "" })).reply, "an empty body");
    },
  ),
];

/** A member that is a string is nothing else, also if it contains the string. */
async function refuseTypes(
  kit: Kit,
  name: "reference" | "asset",
  { number, text }: { number: number; text: string },
): Promise<void> {
  const samples: [what: string, value: unknown][] = [
    ["a JSON number", number],
    ["a list", [text]],
    ["an object", { value: text }],
    ["a boolean", true],
  ];
  const article = name === "asset" ? "an" : "a";
  for (const [what, value] of samples)
    expectRefused(
      (await probe(kit, { fields: { [name]: value } })).reply,
      `${article} ${name} that is ${what}`,
    );
}
