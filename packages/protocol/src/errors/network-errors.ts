import type { ErrorEntry } from "./error-entry.js";

/** The errors of what a network, or a wallet on it, cannot do. */
export const networkErrors = {
  ADDRESS_NOT_SUPPORTED: {
    status: 422,
    message: "This asset cannot be sent to an address.",
    when: "`destination` is an address, and the network of the asset cannot pay addresses",
    advice: "Send to a wallet, or use an asset of a network that has addresses.",
    retry: "never",
  },
  ADDRESS_INVALID: {
    status: 422,
    message: "The address cannot be used.",
    when: "an address has the wrong form or checksum, or is one that must not be paid: the zero address, a precompiled contract, the contract of the token, or the source itself",
    advice: "Check the address; `details` says what is wrong with it.",
    forPeople: "Check the address; what is wrong with it is named here.",
    retry: "never",
  },
  WALLET_CREATING: {
    status: 409,
    message: "The wallet has no address yet.",
    when: "a wallet of a chain is used before it is `active`",
    advice: "Wait for the event `wallet.updated`, or read the wallet until it is `active`.",
    forPeople: "Wait until the wallet is active. Its page shows the address then.",
    retry: "later",
  },
  NOT_REPLACEABLE: {
    status: 409,
    message: "The transaction cannot be sped up.",
    when: "a transaction is not on a chain, not sent yet, being cancelled, in a block already, stopped because its wallet is frozen or its client disabled, or behind another one of its wallet",
    advice:
      "Read the transaction. One in the state `broadcast` can be sped up; `details` says what prevents it.",
    forPeople: "Nothing was sent again. If it is in no block, it can still be cancelled.",
    retry: "never",
  },
  NETWORK_UNKNOWN: {
    status: 422,
    message: "Unknown network.",
    when: "`network` is neither configured nor, for a destination, the CAIP-2 id of a chain",
    advice:
      "For a wallet, omit it, or use `book` or an id of `GET /v1/networks`; for a destination, use an id such as `eip155:1`.",
    forPeople: "Choose one of the networks of this service.",
    retry: "never",
  },
  NETWORK_MISMATCH: {
    status: 422,
    message: "The asset and the wallets are on different networks.",
    when: "`source` or `destination` names a wallet that is not on the network of the asset",
    advice: "Use wallets on the network that `GET /v1/assets` shows for the asset.",
    forPeople: "Choose wallets on the network of the asset.",
    retry: "never",
  },
  DEPOSIT_NOT_SUPPORTED: {
    status: 422,
    message: "Deposits to this wallet are not created by a request.",
    when: "`destination` of a deposit is a wallet of a network other than `book`, on which deposits are found by their address",
    advice: "Send the asset to the address of the wallet, or deposit to a wallet of the book.",
    retry: "never",
  },
} as const satisfies Record<string, ErrorEntry>;
