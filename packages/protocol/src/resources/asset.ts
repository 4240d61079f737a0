import { Type } from "typebox";

const Asset = Type.Object({
  code: Type.String(),
  caip19: Type.Union([Type.String(), Type.Null()]),
  decimals: Type.Integer(),
  network: Type.String(),
  minimum: Type.String({ description: "The least that one transaction may move." }),
  maximum: Type.String({ description: "The most that one transaction may move." }),
});

export const AssetList = Type.Object({ data: Type.Array(Asset) }, { $id: "AssetList" });
