/** The purpose of a wallet. */
export const walletPurposes = ["treasury", "deposit", "payout", "settlement", "fees"] as const;

export type WalletPurpose = (typeof walletPurposes)[number];
