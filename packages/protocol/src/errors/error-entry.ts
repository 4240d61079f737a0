/** An error that Bursar can respond with. */
export interface ErrorEntry {
  status: number;
  /** The default `message`. */
  message: string;
  /** When a client sees it, as the rest of a sentence that begins with "when". */
  when: string;
  /** What the client should do about it. */
  advice: string;
  /** What a person in the console should do, if `advice` speaks to a program. */
  forPeople?: string;
  /** `never`: the same request fails again. `later`: it may succeed, after `Retry-After` if that is given. */
  retry: "never" | "later";
}

/** What a person does about an error that no person can cause. */
export const reportIt = "Load the page again. If it happens again, give the request id to your operator.";
