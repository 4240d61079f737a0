import { describe, expect, it } from "vitest";
import { explainUnpayable, readEvmAddress, showAddress } from "./evm-address.js";

/** The examples of EIP-55. */
const shown = [
  "0x52908400098527886E0F7030069857D2E4169EE7",
  "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
  "0xde709f2102306220921060314715629080e2fb77",
  "0x27b1fdb04752bbc536007a920d24acb045561c26",
  "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
  "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
];

describe("an EVM address", () => {
  it.each(shown)("%s is shown with its checksum and read in every case that carries none", (text) => {
    const address = text.toLowerCase();
    expect(showAddress(address)).toBe(text);
    for (const given of [text, address, `0x${text.slice(2).toUpperCase()}`])
      expect(readEvmAddress(given)).toEqual({ address, shown: text });
  });

  it("is refused if a letter of its checksum has the wrong case", () => {
    expect(readEvmAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD")).toBeUndefined();
    expect(readEvmAddress("0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")).toBeUndefined();
  });

  it.each([
    "",
    "0x",
    "5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
    "0X5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
    "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae",
    "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed0",
    "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaeg",
    " 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
    "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed\n",
  ])("is not %j", (text) => {
    expect(readEvmAddress(text)).toBeUndefined();
  });

  const address = (number: number) => `0x${number.toString(16).padStart(40, "0")}`;
  const token = shown[4]?.toLowerCase() ?? "";
  const source = shown[5]?.toLowerCase() ?? "";

  it.each([
    [address(0), "is the zero address"],
    [address(1), "is a precompiled contract"],
    [address(0x11), "is a precompiled contract"],
    [address(0x100), "is a precompiled contract"],
    [address(0x12), undefined],
    [address(0x101), undefined],
    [token, "is the contract of a token"],
    [source, "is the address of the source wallet"],
    [shown[6]?.toLowerCase() ?? "", undefined],
  ])("%s can be paid unless there is a reason: %s", (given, reason) => {
    expect(explainUnpayable(given, { source, tokens: [token] })).toBe(reason);
  });
});
