import { readFileSync } from "node:fs";
import { faucet } from "./accounts.js";

/** The contracts that every chain starts with. A contract's address follows from the deployer and its place in this list. */

export interface Artefact {
  readonly abi: readonly { readonly type: string; readonly name?: string }[];
  readonly bytecode: `0x${string}`;
}

export interface Contract {
  readonly source: string;
  readonly address: `0x${string}`;
  readonly arguments: readonly unknown[];
}

const tokenArguments = (name: string, symbol: string) => [name, symbol, 6, faucet.address, 10n ** 18n];

/** In the order of their deployment: append, never insert. */
export const contracts = {
  USDC: {
    source: "Token",
    address: "0x8464135c8F25Da09e49BC8782676a84730C318bC",
    arguments: tokenArguments("Development USDC", "USDC"),
  },
  NORET: {
    source: "NoReturnToken",
    address: "0x71C95911E9a5D330f4D621842EC243EE1343292e",
    arguments: tokenArguments("No return value", "NORET"),
  },
  FALSE: {
    source: "FalseToken",
    address: "0x948B3c65b89DF0B4894ABE91E6D02FE579834F8F",
    arguments: tokenArguments("Returns false", "FALSE"),
  },
  FEE: {
    source: "FeeToken",
    address: "0x712516e61C8B383dF4A63CFe83d7701Bce54B03e",
    arguments: tokenArguments("Fee on transfer", "FEE"),
  },
  LOGONLY: {
    source: "LogOnlyToken",
    address: "0xbCF26943C0197d2eE0E5D05c716Be60cc2761508",
    arguments: tokenArguments("Log without movement", "LOGONLY"),
  },
  splitter: { source: "Splitter", address: "0x59F2f1fCfE2474fD5F0b9BA1E73ca90b143Eb8d0", arguments: [] },
  bomb: { source: "Bomb", address: "0xC6bA8C3233eCF65B761049ef63466945c362EdD2", arguments: [] },
  receiver: { source: "Receiver", address: "0x1275D096B9DBf2347bD2a131Fb6BDaB0B4882487", arguments: [] },
} as const satisfies Record<string, Contract>;

export type ContractName = keyof typeof contracts;

/** The tokens, and how the faucet gives them: those whose transfers move nothing, or less, are minted. */
export const tokens = {
  USDC: "transfer",
  NORET: "transfer",
  FALSE: "mint",
  FEE: "mint",
  LOGONLY: "mint",
} as const satisfies Partial<Record<ContractName, "transfer" | "mint">>;

export type TokenName = keyof typeof tokens;

/** What the compiler made of a source in `contracts/`. */
export function readArtefact(source: string): Artefact {
  const url = new URL(`../../contracts/${source}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, "utf8")) as Artefact;
}
