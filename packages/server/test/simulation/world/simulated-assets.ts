import { type AssetRegistry, createAssetRegistry } from "@bursar/domain";
import { assetList } from "../../../src/config/asset-list.js";
import { steppingAssets } from "../../harness/rails/stepping-rail.js";

/** The assets of the simulated world: those of the book, and those of a network that takes several steps. */
export const simulatedAssets: AssetRegistry = createAssetRegistry([...assetList.default, ...steppingAssets]);
