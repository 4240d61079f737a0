import { walletPurposes } from "@bursar/domain";
import { type Static, Type } from "typebox";
import { exampleIds } from "../examples/example-ids.js";
import { Page, PageQuery } from "../pagination.js";
import { CreatedBy, Nullable, OneOf, PathId, Timestamp } from "../values.js";
import { VisibleLine } from "../visible-text.js";

const Purpose = OneOf(walletPurposes);
const stateNames = ["creating", "active"] as const;
const State = OneOf(stateNames);

export const CreateWalletBody = Type.Object(
  {
    name: VisibleLine(128),
    purpose: Purpose,
    network: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: "`book`, which is the default, or an id of `GET /v1/networks`.",
      }),
    ),
  },
  { $id: "CreateWalletBody", additionalProperties: false },
);
export type CreateWalletBody = Static<typeof CreateWalletBody>;

/** The body of `POST /v1/wallets/{id}/freeze`. */
export const FreezeWalletBody = Type.Object(
  {
    reason: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: "Why it is frozen, for those who have to decide when to unfreeze it.",
      }),
    ),
  },
  { $id: "FreezeWalletBody", additionalProperties: false },
);
export type FreezeWalletBody = Static<typeof FreezeWalletBody>;

const Balance = Type.Object(
  {
    asset: Type.String(),
    available: Type.String({ description: "What can be spent." }),
    held: Type.String({ description: "What is reserved for open transactions and orders." }),
    incoming: Nullable(
      Type.String(),
      "Deposits in blocks that are not final; they become available when they are. Null for wallets of the book.",
    ),
    on_chain: Nullable(
      Type.Object({ amount: Type.String(), block_number: Type.Integer() }),
      "What the chain itself showed when it was last asked, and in which final block. Null for wallets of the book, and until it was asked.",
    ),
  },
  { $id: "Balance" },
);

const Sending = Type.Object(
  {
    next_nonce: Type.Integer({ description: "The nonce of the next payment." }),
    final_nonce: Type.Integer({ description: "The number of its transactions that are final." }),
    in_flight: Type.Integer({ description: "The number of payments that have a nonce and are not final." }),
    oldest_at: Nullable(Timestamp(), "Since when the oldest of these has its nonce; null if there is none."),
    halted_reason: Nullable(
      Type.String(),
      "Why nothing more is sent from this wallet until the operator resumes it; null if it is not halted.",
    ),
    blocked_by: Nullable(
      OneOf([
        "wallet_halted",
        "network_halted",
        "unconfirmed",
        "network_waiting",
        "network_unreachable",
        "fees_above_cap",
      ]),
      "Why no payment of this wallet goes on. `wallet_halted`: see `halted_reason`. `network_halted`: its network is halted, see `GET /v1/networks`. `unconfirmed`: the database may have been restored from a backup, and the wallet is compared with its chain and the signer first; payments that were accepted before may have been made. `network_waiting`: no process follows its network at the moment; if that stays so, the network may have been removed from the configuration. `network_unreachable`: no node of its network answers, see `unreachable_since` in `GET /v1/networks`. `fees_above_cap`: the base fee of its network is above the cap, `fee_cap_gwei` in `GET /v1/networks`, so that no block takes its payments until fees fall or the operator raises the cap. Null if nothing blocks them; a payment can still wait for a node, for the signer or for fees.",
    ),
  },
  { $id: "WalletSending" },
);

const walletFields = {
  id: Type.String(),
  object: Type.Literal("wallet"),
  name: Type.String(),
  purpose: Purpose,
  network: Type.String(),
  role: Nullable(OneOf(["primary", "settlement"]), "Set on the two wallets that every tenant starts with."),
  state: State,
  frozen: Type.Boolean({ description: "Nothing can be sent from a frozen wallet." }),
  frozen_reason: Nullable(
    Type.String(),
    "The reason that the last freeze gave; null if it gave none, and if the wallet is not frozen.",
  ),
  version: Type.Integer({ description: "Starts at 1 and increases with every change." }),
  address: Nullable(
    Type.String(),
    "The address on its network, with its checksum (EIP-55); null while it is being created, and for wallets of the book.",
  ),
  account: Nullable(
    Type.String(),
    "The same as a CAIP-10 account id, such as `eip155:1:0x52908400098527886E0F7030069857D2E4169EE7`.",
  ),
  created_by: CreatedBy,
  created_at: Timestamp(),
  updated_at: Timestamp(),
};

export const Wallet = Type.Object(
  {
    ...walletFields,
    balances: Type.Array(Balance),
    sending: Nullable(
      Sending,
      "What it is sending on its chain; null for wallets of the book, and while it is being created.",
    ),
  },
  { $id: "Wallet" },
);
export type Wallet = Static<typeof Wallet>;

/** What a client may see of a wallet that it can freeze or unfreeze but not read. */
const WalletState = Type.Object(
  {
    id: walletFields.id,
    object: walletFields.object,
    state: walletFields.state,
    frozen: walletFields.frozen,
  },
  { $id: "WalletState", additionalProperties: false },
);

export const ChangedWallet = Type.Union([Wallet, WalletState], {
  $id: "ChangedWallet",
  description: "The wallet; only its id and state if the client lacks `wallets:read`.",
});

/** A wallet in an event. Its balances are not part of what changed. */
export const WalletSummary = Type.Object(walletFields, { $id: "WalletSummary" });
export type WalletSummary = Static<typeof WalletSummary>;

export const WalletPage = Page(Wallet, "WalletPage");
export const WalletPath = Type.Object({ id: PathId("The id of the wallet.", exampleIds.primaryWallet) });

export const WalletQuery = Type.Object(
  {
    ...PageQuery("wallets").properties,
    purpose: Type.Optional(
      OneOf(walletPurposes, { description: "Only wallets with this purpose.", examples: ["payout"] }),
    ),
    state: Type.Optional(
      OneOf(stateNames, { description: "Only wallets in this state.", examples: ["active"] }),
    ),
    network: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: "Only wallets of this network.",
        examples: ["book"],
      }),
    ),
    frozen: Type.Optional(
      Type.Boolean({ description: "Only wallets that are frozen, or are not.", examples: [false] }),
    ),
  },
  { additionalProperties: false },
);
