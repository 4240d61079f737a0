/** What the Other server need not offer with some choices. */

/** Without an id, GET cannot be asked about a transaction. */
export const needsId = [
  "tx.create.id",
  "tx.create.id-is-string",
  "tx.create.together",
  "tx.get.found",
  "tx.get.state",
  "tx.get.exact",
  "tx.get.result",
  "tx.get.result-stays",
  "tx.get.result-minute",
  "tx.get.result-kept",
  "tx.get.every",
  "tx.get.every-final",
  "tx.get.every-found",
  "tx.get.every-result",
  "tx.get.members-kept",
  "key.every",
  "prefix.transaction",
  "key.repeat.final",
  "key.repeat.unchanged",
  "key.reused.unchanged",
  "webhook.result",
  "webhook.visible",
];

/** Without an id, a repetition that is accepted says nothing. */
export const needsRefusal = [
  "key.repeat.once",
  "key.repeat.same-id",
  "key.repeat.other-connection",
  "key.repeat.later",
  "key.repeat.each",
  "key.race",
  "key.whole",
  "key.case",
  "key.punctuation",
  "key.spelling",
  "key.distinct",
];

/** Without a state, nothing can be compared with GET. */
export const stateless = ["webhook.result", "webhook.result.every", "webhook.visible"];
