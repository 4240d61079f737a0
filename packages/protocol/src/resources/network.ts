import { type Static, Type } from "typebox";
import { Nullable, OneOf, Timestamp } from "../values.js";

const Network = Type.Object(
  {
    id: Type.String({ description: "The CAIP-2 id, such as `eip155:1`." }),
    object: Type.Literal("network"),
    state: OneOf(["connecting", "waiting", "unreachable", "stalled", "following", "halted"], {
      description:
        "`connecting`: no node was reached yet. `waiting`: no process follows it at the moment, so its payments wait. `unreachable`: no node gives a block that can be followed, since `unreachable_since`; the log of the service says why. Nothing is sent or credited until one does. `stalled`: nodes answer, and since `stalled_since` nothing more could be settled, for the reason in `stalled_reason`: no deposit is credited and no payment completed until it can. `following`: its blocks are followed; whether payments can be signed is `signer` in `/readyz`. `halted`: nothing is sent or credited until the operator resumes it.",
    }),
    halted_reason: Nullable(Type.String(), "Why it is halted; null if it is not."),
    halted_at: Nullable(Timestamp()),
    unreachable_since: Nullable(
      Timestamp(),
      "Since when no node has answered with a block that can be followed; null if one does, or if the state is another.",
    ),
    stalled_since: Nullable(
      Timestamp(),
      "Since when nothing more could be settled, if that has lasted for a minute; null if it can, or if the network is `waiting` or `halted`.",
    ),
    stalled_reason: Nullable(
      Type.String(),
      "What the last attempt to settle more has ended at: the nodes that do not answer, do not agree, or contradict themselves.",
    ),
    head_block: Nullable(Type.Integer(), "The number of its last block that was followed."),
    final_block: Nullable(Type.Integer(), "The number of its last final block."),
    settled_block: Nullable(
      Type.Integer(),
      "The number of the last final block whose payments were completed and whose deposits were credited.",
    ),
    base_fee_gwei: Nullable(Type.String(), "The base fee of its last block, for each unit of gas."),
    fee_cap_gwei: Type.String({ description: "The maximum fee for each unit of gas that a payment offers." }),
    fee_max: Type.String({ description: "The maximum fee of one payment, in the coin." }),
    finality: Type.String({
      description: "When a block counts as final: `finalized`, `safe`, or a number of blocks later.",
    }),
    coin: Type.String({ description: "The asset in which fees are paid." }),
    assets: Type.Array(Type.String(), { description: "The assets of this network." }),
    seen_at: Nullable(Timestamp(), "When its last block was seen."),
  },
  { $id: "Network" },
);
export type Network = Static<typeof Network>;

export const NetworkList = Type.Object({ data: Type.Array(Network) }, { $id: "NetworkList" });
