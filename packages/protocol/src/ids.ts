import { typeIdFromUuid, uuidFromTypeId } from "@bursar/domain";

/** The prefixes of the identifiers that cross the wire: inside there are UUIDs, outside TypeIDs. */
type IdPrefix = "cli" | "dlv" | "dst" | "key" | "req" | "sec" | "tnt" | "tok" | "tx" | "whe" | "wlt";

export function showId(prefix: IdPrefix, uuid: string): string {
  return typeIdFromUuid(prefix, uuid);
}

/** The UUID inside an identifier; undefined where the text is none of this kind. */
export function readId(prefix: IdPrefix, text: string): string | undefined {
  return uuidFromTypeId(prefix, text);
}
