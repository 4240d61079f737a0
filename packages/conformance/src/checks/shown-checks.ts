import { contractCheck, ignoreNoResponse, NotOffered } from "../engine/check.js";
import { compareDecimals, parseDecimal, parseScientific } from "../engine/decimal.js";
import type { Kit } from "../engine/kit.js";
import { describeReply, isRefusal } from "../http/reply.js";
import { sendNew } from "./keys/new-key.js";
import { requireId, sharedTransaction, showTransaction } from "./scenarios.js";
import { expectShown, findShown, shownMember } from "./shown-members.js";

const own = "tx.get.own";
const exactReference = "shown.reference.exact";
const row = { needs: [], writes: ["transaction"] } as const;

/** What programs change in a string, each with what it shows: case, encodings, markup, escapes, spaces, a composed form. */
const oddParts = ["AbC", "😀𝄞", "<b>&amp;'", "%41+", '\\"', "\t\u200b", "ﬁ", "e\u0301", " x  y "];
/** Longer than the columns of most tables, and as long as they are: what is refused when it is longer can still be cut when it is shorter. */
const longLengths = [320, 255, 200, 128, 100, 65];

/** How the members of a create request come back. */
export const shownChecks = [
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
      const { reply } = await sendNew(kit, { fields: exact });
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
      const { reply } = await sendNew(kit, { fields: { reference } });
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
    exactReference,
    "2.reference",
    "A reference that is accepted is not changed: case, spaces, markup, escapes, length and characters of all kinds stay.",
    { ...row, needs: [own], unlessFailed: ["shown.reference"] },
    async (kit) => {
      const shared = await sharedTransaction(kit);
      const plain = shownMember(kit.target, (await showTransaction(kit, shared.id)).json, "reference");
      const isPlaceKnown = plain === shared.reference;
      const isShown = async (change: (name: string) => string) => {
        const reference = change(kit.newName());
        const reply = (await kit.create({ fields: { reference } }).catch(ignoreNoResponse))?.reply;
        if (reply === undefined || isRefusal(reply)) return false;
        const { json } = await showTransaction(kit, requireId(kit.target, reply));
        expectReference(kit, json, reference, isPlaceKnown);
        return true;
      };
      const append = (part: string) => (name: string) => `${name}${part}`;
      let accepted = (await isShown(append(oddParts.join("")))) ? 1 : 0;
      if (accepted === 0) for (const part of oddParts) accepted += (await isShown(append(part))) ? 1 : 0;
      accepted += (await isShown(append("a\u0000b"))) ? 1 : 0;
      for (const length of longLengths) {
        // Digits, because references may have nothing else.
        const isAccepted = await isShown((name) => name.padEnd(length, "1"));
        accepted += isAccepted ? 1 : 0;
        if (isAccepted) break;
      }
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

/** Two strings that Unicode calls equivalent are the same to a reader, so only a program that compares them notices. */
function expectReference(kit: Kit, json: unknown, sent: string, isPlaceKnown: boolean): void {
  const value = findShown(kit.target, json, "reference");
  const isLong = longLengths.includes(sent.length);
  const shownLength = typeof value === "string" ? `, and not one of ${value.length}` : "";
  const isEquivalent = typeof value === "string" && value.normalize("NFD") === sent.normalize("NFD");
  if (value !== sent && isEquivalent)
    kit.warn(
      `GET shows ${JSON.stringify(value)} for the reference ${JSON.stringify(sent)}. Unicode calls the two equivalent; a client that compares its references finds another one.`,
    );
  expectShown(kit, json, {
    name: "reference",
    sent: isLong ? `of ${sent.length} characters as it was sent${shownLength}` : JSON.stringify(sent),
    isSame: () => value === sent || isEquivalent,
    isPlaceKnown,
  });
}

function expectAmount(kit: Kit, json: unknown, sent: string, isPlaceKnown = false): void {
  const wanted = parseDecimal(sent);
  const isSame = (value: unknown) => {
    const amount = typeof value === "string" ? parseScientific(value) : undefined;
    return amount !== undefined && wanted !== undefined && compareDecimals(amount, wanted) === 0;
  };
  expectShown(kit, json, { name: "amount", sent, isSame, isPlaceKnown });
}
