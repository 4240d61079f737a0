import type { Rail } from "../../app/rails/rail.js";

/** The book: value moves between wallets inside Bursar, at once and for good. It has no addresses. */
export const bookRail: Rail = {
  network: "book",
  firstEvent: "settle",
  activatesWalletsAtOnce: true,
  mayCancel: () => false,
};
