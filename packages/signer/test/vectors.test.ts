import { HDKey } from "@scure/bip32";
import { mnemonicToSeedSync } from "@scure/bip39";
import { describe, expect, it } from "vitest";
import { addressOfKey, signDigest } from "../src/keys/secp256k1.js";
import { createWalletKeys, derivationPath } from "../src/keys/wallet-keys.js";
import { publicWords } from "../src/memory-signer.js";
import { entropyOfWords, seedOf, wordsOf } from "../src/seed/mnemonic.js";
import { encodeRlp, type RlpItem } from "../src/signing/rlp.js";
import { attachSignature, digestOf } from "../src/signing/transaction.js";
import { bip32Vectors, bip39Vectors, eip1559Vectors } from "./published-vectors.js";

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
const hex = (content: Uint8Array) => Buffer.from(content).toString("hex");

describe("the published vectors", () => {
  it.each(bip39Vectors)("of BIP-39: entropy %s", (entropy, words, seed) => {
    expect(wordsOf(bytes(entropy))).toBe(words);
    expect(hex(entropyOfWords(words))).toBe(entropy);
    expect(hex(mnemonicToSeedSync(words, "TREZOR"))).toBe(seed);
    expect(hex(seedOf(bytes(entropy)))).toBe(hex(mnemonicToSeedSync(words)));
  });

  it.each(bip32Vectors)("of BIP-32: seed %s, chain %s", (seed, chain, extendedKey) => {
    expect(HDKey.fromMasterSeed(bytes(seed)).derive(chain).privateExtendedKey).toBe(extendedKey);
  });

  // The first addresses that every wallet shows for these words.
  it.each([
    [publicWords, 0, 0, "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"],
    [publicWords, 0, 1, "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"],
    [publicWords, 0, 2, "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc"],
    [
      "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
      0,
      0,
      "0x9858effd232b4033e47d90003d41ec34ecaeda94",
    ],
  ])("of BIP-44: words %s, tenant %d, wallet %d", (words, tenantNumber, walletNumber, address) => {
    const keys = createWalletKeys(seedOf(entropyOfWords(words)));
    expect(derivationPath({ tenantNumber, walletNumber })).toBe(
      `m/44'/60'/${tenantNumber}'/0/${walletNumber}`,
    );
    expect(keys.addressOf({ tenantNumber, walletNumber })).toBe(address);
  });

  it.each(eip1559Vectors)("of EIP-1559: nonce $nonce", (vector) => {
    const key = bytes("8f2a55949038a9610f50fb23b5883af3b4ecb3c3bb792cbcefbd1542c692be63");
    const transaction = {
      chainId: 7822n,
      nonce: BigInt(vector.nonce),
      maxPriorityFeePerGas: BigInt(vector.maxPriorityFeePerGas),
      maxFeePerGas: BigInt(vector.maxFeePerGas),
      gasLimit: BigInt(vector.gasLimit),
      to: bytes(`${"0".repeat(36)}aaaa`),
      value: BigInt(vector.value),
      data: new Uint8Array(),
    };
    const signed = attachSignature(transaction, signDigest(digestOf(transaction), key));
    expect(signed.bytes).toBe(vector.signed);
    expect(addressOfKey(key)).toMatch(/^0x[0-9a-f]{40}$/);
  });
});

// From the specification of RLP.
describe("the encoding", () => {
  const text = "Lorem ipsum dolor sit amet, consectetur adipisicing elit";
  it.each<[string, RlpItem, string]>([
    ["dog", Buffer.from("dog"), "83646f67"],
    ["an empty string", new Uint8Array(), "80"],
    ["an empty list", [], "c0"],
    ["0", 0n, "80"],
    ["15", 15n, "0f"],
    ["127", 127n, "7f"],
    ["128", 128n, "8180"],
    ["1024", 1024n, "820400"],
    ["cat and dog", [Buffer.from("cat"), Buffer.from("dog")], "c88363617483646f67"],
    ["a set of sets", [[], [[]], [[], [[]]]], "c7c0c1c0c3c0c1c0"],
    ["55 bytes", Buffer.from(text.slice(1)), `b7${Buffer.from(text.slice(1)).toString("hex")}`],
    ["56 bytes", Buffer.from(text), `b838${Buffer.from(text).toString("hex")}`],
    ["1024 bytes", Buffer.alloc(1024, 1), `b90400${"01".repeat(1024)}`],
  ])("of %s", (_, item, encoded) => {
    expect(hex(encodeRlp(item))).toBe(encoded);
  });
});
