import { type Static, type TSchema, Type } from "typebox";
import { tokens } from "../chain/contracts.js";
import { Conditions } from "../node/conditions.js";
import { Fault } from "../node/faults.js";

/** The parameters of the controls. Each takes one object; what has no required field can be left out. */

const Raw = Type.String({ pattern: "^0x([0-9a-f]{2})+$", maxLength: 300_000 });
const Hash = Type.String({ pattern: "^0x[0-9a-f]{64}$" });
const Address = Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" });
/** An amount in base units, in decimal digits: it can be larger than a number of JSON is exact. */
const Amount = Type.String({ pattern: "^(0|[1-9][0-9]{0,77})$" });
const Depth = Type.Integer({ minimum: 0, maximum: 1000 });
const NodeName = Type.Enum(["main", "second"]);
export type NodeName = Static<typeof NodeName>;

const closed = <T extends Record<string, TSchema>>(fields: T) =>
  Type.Object(fields, { additionalProperties: false });

export const controlSchemas = {
  devnet_status: closed({}),
  devnet_setMining: Type.Union([
    closed({ mode: Type.Literal("manual") }),
    closed({
      mode: Type.Literal("interval"),
      blockTimeMs: Type.Integer({ minimum: 10, maximum: 3_600_000 }),
    }),
  ]),
  devnet_mine: closed({
    blocks: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    timestamp: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 40 })),
    transactions: Type.Optional(Type.Array(Raw, { maxItems: 5000 })),
  }),
  devnet_setBaseFee: closed({ wei: Type.Optional(Amount), hold: Type.Optional(Type.Boolean()) }),
  devnet_setFinality: closed({ safeDepth: Depth, finalDepth: Depth }),
  devnet_setPool: closed({ mode: Type.Enum(["mempool", "sequencer"]) }),
  devnet_listPool: closed({}),
  devnet_dropTransactions: closed({ hashes: Type.Optional(Type.Array(Hash, { maxItems: 20_000 })) }),
  devnet_reorganise: closed({
    depth: Type.Integer({ minimum: 1, maximum: 64 }),
    add: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    transactions: Type.Enum(["include", "return", "drop"]),
    first: Type.Optional(Type.Array(Type.Array(Raw, { maxItems: 1000 }), { maxItems: 64 })),
  }),
  devnet_setBalance: closed({ address: Address, wei: Amount }),
  devnet_setDataFee: closed({
    baseFee: Amount,
    baseFeeScalar: Amount,
    blobBaseFee: Amount,
    blobBaseFeeScalar: Amount,
    operatorFeeScalar: Amount,
    operatorFeeConstant: Amount,
  }),
  devnet_fund: closed({
    address: Address,
    amount: Amount,
    asset: Type.Enum(["ETH", ...(Object.keys(tokens) as (keyof typeof tokens)[])]),
  }),
  devnet_setConditions: closed({ node: NodeName, conditions: Conditions }),
  devnet_addFault: closed({ node: NodeName, fault: Fault }),
  devnet_clearFaults: closed({ node: NodeName }),
  devnet_listFaults: closed({ node: NodeName }),
} as const satisfies Record<string, TSchema>;

export type ControlName = keyof typeof controlSchemas;
export type ControlInput<N extends ControlName> = Static<(typeof controlSchemas)[N]>;
