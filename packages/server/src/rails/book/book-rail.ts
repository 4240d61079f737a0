import type { Rail } from "../../app/transactions/rail.js";

/** The book: value moves between wallets inside Bursar, and is there at once. */
export const bookRail: Rail = { network: "book", firstEvent: "settle" };
