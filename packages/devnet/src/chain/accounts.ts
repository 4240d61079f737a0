/**
 * The accounts that every chain starts with. Their keys are the first two of the mnemonic "test test … junk", which most development
 * chains use: they are public, and coins that are sent to them on a real network are lost.
 */
export const faucet = {
  address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  privateKey: "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  wei: 10n ** 27n,
} as const;

/** Deploys the contracts, so that their addresses follow from its nonces; it has no other use. */
export const deployer = {
  address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  privateKey: "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
  wei: 10n ** 21n,
} as const;
