import { createAssetRegistry } from "@bursar/domain";
import { assetList } from "../../../src/config/asset-list.js";

/** Those of a service that is not configured otherwise. */
export const testAssets = createAssetRegistry(assetList.default);
