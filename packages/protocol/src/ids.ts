import { typeIdFromUuid, uuidFromTypeId } from "@bursar/domain";

/** The prefixes of identifiers on the wire, which are TypeIDs; inside the service they are UUIDs. */
type IdPrefix =
  | "chr"
  | "cli"
  | "con"
  | "dlv"
  | "dst"
  | "epo"
  | "key"
  | "ord"
  | "req"
  | "sec"
  | "ses"
  | "tnt"
  | "tok"
  | "trd"
  | "tx"
  | "whe"
  | "wlt";

export function showId(prefix: IdPrefix, uuid: string): string {
  return typeIdFromUuid(prefix, uuid);
}

/** The UUID inside an identifier; undefined if the string is not one of this kind. */
export function readId(prefix: IdPrefix, id: string): string | undefined {
  return uuidFromTypeId(prefix, id);
}
