/** What is read from an object is current at once; sums and deliveries are written a moment after the event. */
const soonMs = 300;
const laterMs = 2000;

/** Decides when to read again. The last event is always followed by a reading as late as sums and deliveries need. */
export function createRefresher(refresh: () => void): { notify: () => void; stop: () => void } {
  let soon: ReturnType<typeof setTimeout> | undefined;
  let later: ReturnType<typeof setTimeout> | undefined;
  let isMore = false;
  const startLater = () => {
    isMore = false;
    later = setTimeout(() => {
      later = undefined;
      if (isMore) startLater();
      refresh();
    }, laterMs);
  };
  return {
    notify: () => {
      isMore = true;
      if (later !== undefined) return;
      soon = setTimeout(refresh, soonMs);
      startLater();
    },
    stop: () => {
      clearTimeout(soon);
      clearTimeout(later);
    },
  };
}
