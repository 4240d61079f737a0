/** How long a limit order lives, in words. */
export const timesInForce = {
  gtc: "Good till cancelled: what does not trade at once stays in the book",
  ioc: "Immediate or cancel: what does not trade at once is cancelled",
  fok: "Fill or kill: it trades at once as a whole, or not at all",
  post_only: "Post only: it goes into the book, and is rejected if it would trade at once",
} as const;

export type TimeInForce = keyof typeof timesInForce;
