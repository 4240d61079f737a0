/** An error that Bursar can answer with. */
export interface ErrorEntry {
  status: number;
  /** The `message` of an answer that has nothing more precise to say. */
  message: string;
  /** When a client sees it, as the rest of a sentence that begins with "when". */
  when: string;
  /** What the client should do about it. */
  advice: string;
  /** `never`: the same request fails again. `later`: the same request may succeed, after `Retry-After` where given. */
  retry: "never" | "later";
}
