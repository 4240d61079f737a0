import type { ReactNode } from "react";

/** How requests of one kind are spoken of. */
export interface UnansweredWords<Body> {
  /** Such as `payment`. */
  noun: string;
  /** What may have become of one, such as `paid`. */
  done: string;
  /** Such as `rent`, as plain words. */
  nameOf: (body: Body) => string;
  /** The same with what it moves, such as `rent of 5.00 USD`. */
  describe: (body: Body) => ReactNode;
  /** Where a person finds out whether it was done, such as `look at your orders first`. */
  advice: string;
}
