// The words that the code base does not use, because a newcomer cannot search for them, with the field's own word for each.
// tidy.test.ts looks for them in code, documents and messages.

/** @type {readonly { pattern: RegExp, instead: string }[]} */
export const avoidedWords = [
  { pattern: /\bcall(s|ed|ing)? off\b|\bcall(s|ed)?Off\b/i, instead: "cancel" },
  { pattern: /\ba text\b/i, instead: "a string" },
  { pattern: /\bwho(m|so)?ever\b|\bfor who\b/i, instead: "any client that; unauthenticated callers" },
  { pattern: /\bwhichever\b|\bhowever often\b/i, instead: "any; as often as" },
  { pattern: /\bis ?away\b|AwayError|DatabaseAway/i, instead: "unavailable" },
  { pattern: /\blets? ?pass\b|\bletPass|\bmayGo\b|\bputBack\b/i, instead: "admit, allow, release" },
  { pattern: /\blet(s|ting)? go\b|\bletGo\b/i, instead: "release, disconnect" },
  { pattern: /\bwhence\b/i, instead: "origin" },
  { pattern: /breath/i, instead: "linger" },
  { pattern: /\bpurses?\b/i, instead: "ledger changes" },
  { pattern: /\bhearPeople\b|\ba person's word\b/i, instead: "tally approvals, an approver's decision" },
  { pattern: /turnstile/i, instead: "semaphore" },
  { pattern: /\bpulse\b/i, instead: "heartbeat" },
  { pattern: /\blanes?\b/i, instead: "keyed mutex, queue per endpoint" },
  { pattern: /\bladder\b(?!\.js)/i, instead: "quotes" },
  { pattern: /\binbox\b/i, instead: "queue of messages" },
  { pattern: /\banew\b/i, instead: "again" },
  { pattern: /\bfor ever\b/i, instead: "forever, without end" },
  { pattern: /\b(is|are|was) over\b(?! (the|a|its|their)\b)/i, instead: "has ended, is final" },
  { pattern: /\b(has|have) not the form\b/i, instead: "does not match" },
  { pattern: /\bsteadyMs\b|\belapsedMs\b/, instead: "monotonicMs" },
  {
    pattern: /\b(was|were|is|are|be|been) told\b|\btells? (it|them|him|everybody|whoever)\b/i,
    instead: "notify, answer, report",
  },
  { pattern: /\bthe house\b/i, instead: "the fee tenant; the project" },
  { pattern: /\bdoorman\b|\bdoorkeeper\b/i, instead: "authentication, filter" },
];

/**
 * Folders and files that may still contain them. The list only gets shorter.
 * @type {readonly string[]}
 */
export const notYetSwept = ["packages/domain/src/book/", "packages/domain/test/", "bench/"];
