import type { ReceiverStore } from "./receiver-store.js";

/** Sequences that have not arrived, both ends included. */
export interface SequenceRange {
  from: number;
  to: number;
}

const pageSize = 1000;

/** The gaps between the sequences that a store knows of an epoch, from `since` on if that is given, and the last of them. */
export async function findGaps(
  store: Pick<ReceiverStore<unknown>, "sequences">,
  epoch: string,
  gapsMax: number,
  since?: number,
): Promise<{ gaps: SequenceRange[]; last: number | undefined }> {
  const gaps: SequenceRange[] = [];
  let last = since;
  for (;;) {
    const page = await store.sequences(epoch, last ?? -1, pageSize);
    for (const sequence of page) {
      if (last !== undefined && sequence > last + 1 && gaps.length < gapsMax)
        gaps.push({ from: last + 1, to: sequence - 1 });
      last = sequence;
    }
    if (page.length < pageSize) return { gaps, last };
  }
}
