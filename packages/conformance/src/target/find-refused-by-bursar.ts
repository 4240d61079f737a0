import type { Kit } from "../engine/kit.js";
import { isObject } from "../http/reply.js";

interface Candidate {
  /** Members that replace those of a transaction. */
  readonly fields: Record<string, unknown>;
  /** The same, as the dry run wants them: it also asks for the network of an address. */
  readonly evaluated: Record<string, unknown>;
}

/** An address that nobody has listed as a destination. */
const unlistedAddress = "0x000000000000000000000000000000000000dEaD";
const candidatesMax = 12;

/**
 * Members of a transaction that the policy of a Bursar refuses. Its dry run is asked about amounts from which the rules reject, and about
 * payouts to an address that is not listed; nothing is created. Undefined if none of them is refused.
 */
export async function findRefusedByBursar(kit: Kit): Promise<Record<string, unknown> | undefined> {
  const { asset, amount, fields: usual } = kit.target.transaction;
  const candidates = [...(await amountsOfRules(kit)), ...(await payouts(kit))].slice(0, candidatesMax);
  for (const { fields, evaluated } of candidates) {
    const transaction = { reference: kit.newName(), asset, amount, ...usual, ...evaluated };
    const reply = await kit.send("POST", "/v1/policy/evaluate", {
      headers: [["Content-Type", "application/json"]],
      body: JSON.stringify({ transaction }),
    });
    const { action, decided } = isObject(reply.json) ? reply.json : {};
    if (reply.status === 200 && action === "reject" && decided === "at_once") return fields;
  }
  return undefined;
}

async function amountsOfRules(kit: Kit): Promise<Candidate[]> {
  const { json } = await kit.send("GET", "/v1/policy");
  const document = isObject(json) ? json["document"] : undefined;
  const rules = isObject(document) && Array.isArray(document["rules"]) ? document["rules"] : [];
  return rules.filter(isObject).flatMap(({ action, when }) => {
    const range = isObject(when) ? when["amount"] : undefined;
    if (action !== "reject" || !isObject(range)) return [];
    const amount = range["min"] ?? range["max"];
    if (typeof amount !== "string") return [];
    const fields = { asset: range["asset"], amount };
    return [{ fields, evaluated: fields }];
  });
}

/** The book has no addresses, so only assets of other networks can be paid to one. */
async function payouts(kit: Kit): Promise<Candidate[]> {
  const { json } = await kit.send("GET", "/v1/assets");
  const assets = isObject(json) ? Object.values(json).find(Array.isArray) : undefined;
  return (assets ?? []).filter(isObject).flatMap(({ code, minimum, network }: Record<string, unknown>) => {
    if (network === "book" || typeof network !== "string") return [];
    const fields = { asset: code, amount: minimum, destination: { address: unlistedAddress } };
    return [{ fields, evaluated: { ...fields, destination: { address: unlistedAddress, network } } }];
  });
}
