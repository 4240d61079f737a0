import { Type } from "typebox";
import { Nullable } from "../values.js";

const Asset = Type.Object(
  {
    code: Type.String(),
    caip19: Nullable(Type.String(), "The CAIP-19 id; null if the asset has none."),
    decimals: Type.Integer(),
    network: Type.String(),
    minimum: Type.String({ description: "The smallest amount of one transaction." }),
    maximum: Type.String({ description: "The largest amount of one transaction." }),
  },
  { $id: "Asset" },
);

export const AssetList = Type.Object({ data: Type.Array(Asset) }, { $id: "AssetList" });
