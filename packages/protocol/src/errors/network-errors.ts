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
  NETWORK_UNKNOWN: {
    status: 422,
    message: "Unknown network.",
    when: "`network` is neither configured nor, for a destination, the CAIP-2 id of a chain",
    advice: "For a wallet, omit it or use `book`; for a destination, use an id such as `eip155:1`.",
    retry: "never",
  },
  NETWORK_MISMATCH: {
    status: 422,
    message: "The asset and the wallets are on different networks.",
    when: "`source` or `destination` names a wallet that is not on the network of the asset",
    advice: "Use wallets on the network that `GET /v1/assets` shows for the asset.",
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
