import { encodeTransfer, type UnsignedTransaction } from "./transaction.js";

/** What the service asks for. The signer builds the bytes itself and never signs any that it was given. */
export interface SigningIntent {
  readonly tenantId: string;
  readonly transactionId: string;
  readonly walletId: string;
  /** CAIP-2, such as `eip155:1`. */
  readonly network: string;
  /** The sender. All addresses are in lower case. */
  readonly address: string;
  readonly nonce: number;
  readonly purpose: Purpose;
  /** The contract of a token; null for the coin. */
  readonly contract: string | null;
  readonly destination: string;
  readonly amount: bigint;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** A replacement has the same payment and higher fees. A cancellation pays nothing to the sender itself. */
type Purpose = "payment" | "replacement" | "cancellation";

export interface Wallet {
  readonly tenantId: string;
  readonly walletId: string;
  readonly network: string;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const evmNetwork = /^eip155:[1-9][0-9]{0,15}$/;
const evmAddress = /^0x[0-9a-f]{40}$/;
const wholeNumber = /^(0|[1-9][0-9]{0,77})$/;
const purposes: readonly unknown[] = ["payment", "replacement", "cancellation"] satisfies Purpose[];
const zeroAddress = `0x${"0".repeat(40)}`;

const nonceEnd = 2 ** 32;
const feeEnd = 1n << 64n;
const amountEnd = 1n << 256n;
/** What a transfer of the coin to an account costs. */
const gasMin = 21_000n;
const gasMax = 30_000_000n;

const fieldNames = [
  ...["tenantId", "transactionId", "walletId", "network", "address", "nonce", "purpose", "contract"],
  ...["destination", "amount", "gasLimit", "maxFeePerGas", "maxPriorityFeePerGas"],
];

/** The intent, or the sentence that says what is wrong with it. Amounts are decimal strings. */
export function readIntent(given: unknown): SigningIntent | string {
  if (!isObject(given)) return "An intent must be an object.";
  const stranger = Object.keys(given).find((name) => !fieldNames.includes(name));
  if (stranger !== undefined) return `An intent has no field ${JSON.stringify(stranger.slice(0, 40))}.`;
  const wallet = readWalletFields(given);
  if (typeof wallet === "string") return wallet;
  const { transactionId, address, nonce, purpose, contract, destination } = given;
  if (!matches(transactionId, uuid)) return "transactionId must be a UUID in lower case.";
  if (!matches(address, evmAddress)) return "address must be an address in lower case.";
  if (!matches(destination, evmAddress)) return "destination must be an address in lower case.";
  if (contract !== null && !matches(contract, evmAddress))
    return "contract must be null or an address in lower case.";
  if (!isNonce(nonce)) return `nonce must be a whole number below ${nonceEnd}.`;
  if (!isPurpose(purpose)) return "purpose must be payment, replacement or cancellation.";
  const terms = readNumbers(given);
  if (typeof terms === "string") return terms;
  const intent = { ...wallet, transactionId, address, nonce, purpose, contract, destination, ...terms };
  return findContradiction(intent) ?? intent;
}

/** The wallet, or the sentence that says what is wrong with it. */
export function readWallet(given: unknown): Wallet | string {
  return readWalletWith(given, []);
}

/** A wallet, and the nonce from which on its signatures are asked for. */
export interface SignedQuestion extends Wallet {
  readonly nonce: number;
}

/** The question, or the sentence that says what is wrong with it. */
export function readSignedQuestion(given: unknown): SignedQuestion | string {
  const wallet = readWalletWith(given, ["nonce"]);
  if (typeof wallet === "string") return wallet;
  const { nonce } = given as { nonce?: unknown };
  return isNonce(nonce) ? { ...wallet, nonce } : `nonce must be a whole number below ${nonceEnd}.`;
}

export function transactionOf(intent: SigningIntent): UnsignedTransaction {
  const { network, nonce, maxFeePerGas, maxPriorityFeePerGas, gasLimit } = intent;
  const { contract, destination, amount } = intent;
  const terms = {
    chainId: BigInt(network.slice("eip155:".length)),
    nonce: BigInt(nonce),
    maxFeePerGas,
    maxPriorityFeePerGas,
    gasLimit,
  };
  return contract === null
    ? { ...terms, to: bytesOf(destination), value: amount, data: new Uint8Array() }
    : { ...terms, to: bytesOf(contract), value: 0n, data: encodeTransfer(destination, amount) };
}

function readWalletWith(given: unknown, further: readonly string[]): Wallet | string {
  if (!isObject(given)) return "A wallet must be an object.";
  const known = ["tenantId", "walletId", "network", ...further];
  const stranger = Object.keys(given).find((name) => !known.includes(name));
  if (stranger !== undefined) return `A wallet has no field ${JSON.stringify(stranger.slice(0, 40))}.`;
  return readWalletFields(given);
}

function readWalletFields({ tenantId, walletId, network }: Record<string, unknown>): Wallet | string {
  if (!matches(tenantId, uuid)) return "tenantId must be a UUID in lower case.";
  if (!matches(walletId, uuid)) return "walletId must be a UUID in lower case.";
  if (!matches(network, evmNetwork) || !Number.isSafeInteger(Number(network.slice(7))))
    return "network must be a chain of CAIP-2 such as eip155:1.";
  return { tenantId, walletId, network };
}

function readNumbers(given: Record<string, unknown>) {
  const names = ["amount", "gasLimit", "maxFeePerGas", "maxPriorityFeePerGas"] as const;
  for (const name of names)
    if (!matches(given[name], wholeNumber)) return `${name} must be a whole number in decimal digits.`;
  const [amount, gasLimit, maxFeePerGas, maxPriorityFeePerGas] = names.map((name) =>
    BigInt(given[name] as string),
  ) as [bigint, bigint, bigint, bigint];
  if (amount >= amountEnd) return "amount must be below 2^256.";
  if (gasLimit < gasMin || gasLimit > gasMax) return `gasLimit must be from ${gasMin} to ${gasMax}.`;
  if (maxFeePerGas >= feeEnd) return "maxFeePerGas must be below 2^64.";
  if (maxPriorityFeePerGas > maxFeePerGas) return "maxPriorityFeePerGas must not exceed maxFeePerGas.";
  return { amount, gasLimit, maxFeePerGas, maxPriorityFeePerGas };
}

/** What no correct service asks for. */
function findContradiction(intent: SigningIntent): string | undefined {
  const { purpose, address, contract, destination, amount } = intent;
  if (purpose === "cancellation") {
    if (contract === null && destination === address && amount === 0n) return undefined;
    return "A cancellation must send 0 of the coin to the sender itself.";
  }
  if (amount === 0n) return "The amount of a payment must be above 0.";
  if (destination === address) return "A payment must not go to its sender.";
  if (destination === zeroAddress) return "A payment must not go to the zero address.";
  if (destination === contract) return "A payment must not go to the contract of its token.";
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}

function isNonce(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < nonceEnd;
}

function isPurpose(value: unknown): value is Purpose {
  return purposes.includes(value);
}

function bytesOf(address: string): Uint8Array {
  return new Uint8Array(Buffer.from(address.slice(2), "hex"));
}
