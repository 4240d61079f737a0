import { OtherRefusal } from "./other-answers.js";
import type { Chose } from "./other-choices.js";
import { amountOf } from "./other-shown.js";
import { halfPairs, headerChoices, namedMembers, understood } from "./other-webhooks.js";

/** Refuses a transaction whose members are not what this server takes. */
export function checkMembers(chose: Chose, members: Record<string, unknown>, isLenient: boolean): void {
  for (const name of ["reference", "asset", "amount"])
    if (typeof members[name] !== "string") throw new OtherRefusal(422, "STRING_NEEDED");
  if (!/^\d+(\.\d+)?$/.test(amountOf(chose, members))) throw new OtherRefusal(422, "DECIMAL_NEEDED");
  // What a byte that is not UTF-8 is read as.
  const odd =
    chose(namedMembers) || chose(halfPairs)
      ? /\p{Surrogate}/gu
      : isLenient || chose(understood)
        ? "\ufffd"
        : "";
  const reference = String(members["reference"]).replace(odd, "");
  const allowed = headerChoices.some(chose) ? /^[\x20-\u2fff]+$/ : /^[\x20-\x7e]+$/;
  if (!allowed.test(reference)) throw new OtherRefusal(422, "ASCII_NEEDED");
  if (
    chose("references of letters and digits, which the target file does not say") &&
    !/^[A-Za-z0-9]+$/.test(String(members["reference"]))
  )
    throw new OtherRefusal(422, "REFERENCE_FORM");
  if (
    chose("references of at most 16 letters and digits") &&
    !/^[A-Za-z0-9]{1,16}$/.test(String(members["reference"]))
  )
    throw new OtherRefusal(422, "REFERENCE_FORM");
  if (members["purpose"] === "forbidden" && !chose("policy applied after the 202"))
    throw new OtherRefusal(
      451,
      chose("a rejection by policy under another code") ? "E451_POLICY" : "POLICY_REJECTED",
    );
}
