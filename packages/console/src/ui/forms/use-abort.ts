import { useEffect, useMemo } from "react";

interface Abort {
  /** Ends what was begun before, and returns the signal of what begins now. */
  begin: () => AbortSignal;
  end: () => void;
}

/** For work that a button begins: it ends with another button, when it is begun again, and when the person leaves the page. */
export function useAbort(): Abort {
  const abort = useMemo((): Abort => {
    let current: AbortController | undefined;
    const end = () => current?.abort();
    const begin = () => {
      end();
      current = new AbortController();
      return current.signal;
    };
    return { begin, end };
  }, []);
  useEffect(() => abort.end, [abort]);
  return abort;
}
