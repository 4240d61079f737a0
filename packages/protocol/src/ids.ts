import { typeIdFromUuid, uuidFromTypeId } from "@bursar/domain";

/** The prefixes of the identifiers that cross the wire: inside there are UUIDs, outside TypeIDs. */
type IdPrefix =
  | "cli"
  | "con"
  | "dlv"
  | "dst"
  | "key"
  | "ord"
  | "req"
  | "sec"
  | "tnt"
  | "tok"
  | "trd"
  | "tx"
  | "whe"
  | "wlt";

export function showId(prefix: IdPrefix, uuid: string): string {
  return typeIdFromUuid(prefix, uuid);
}

/** The UUID inside an identifier; undefined where the text is none of this kind. */
export function readId(prefix: IdPrefix, text: string): string | undefined {
  return uuidFromTypeId(prefix, text);
}
