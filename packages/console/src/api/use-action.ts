import { type UseMutationOptions, type UseMutationResult, useMutation } from "@tanstack/react-query";
import { useState } from "react";

/** The two clicks of a double click are no further apart on any system's default. */
const doubleClickMs = 500;

/**
 * Something that a person starts and that happens once, as often as they click. A button is disabled only when it is drawn again, which is
 * later than the second click of a double click. A second start with the same variables is ignored while the first runs, and, if it succeeded,
 * until the double click has ended: it would send again what the page has already done with. An action without variables has one start at a
 * time, whatever was edited meanwhile; one that may start with other content while it runs takes that content as its variables.
 */
export function useAction<Data, Variables = void>(
  options: UseMutationOptions<Data, Error, Variables>,
): UseMutationResult<Data, Error, Variables> {
  const [guard] = useState(() => createStartGuard(() => performance.now()));
  const mutation = useMutation<Data, Error, Variables>({
    ...options,
    onSettled: async (...settled) => {
      try {
        await options.onSettled?.(...settled);
      } finally {
        const [, error, variables] = settled;
        guard.end(keyOf(variables), error === null);
      }
    },
  });
  const mutate: typeof mutation.mutate = (...start) => {
    if (guard.begin(keyOf(start[0]))) mutation.mutate(...start);
  };
  return { ...mutation, mutate };
}

function keyOf(variables: unknown): string {
  return JSON.stringify(variables) ?? "";
}

interface StartGuard {
  /** Whether it may start. */
  begin: (key: string) => boolean;
  end: (key: string, hasSucceeded: boolean) => void;
}

/** One start for each key at a time. */
export function createStartGuard(monotonicMs: () => number): StartGuard {
  const begunAtMs = new Map<string, number>();
  const ended = new Set<string>();
  return {
    begin: (key) => {
      const before = begunAtMs.get(key);
      const isRunning = before !== undefined && !ended.has(key);
      const isDoubleClick = before !== undefined && monotonicMs() - before < doubleClickMs;
      if (isRunning || isDoubleClick) return false;
      // Only the last of those that ended can be part of a double click.
      for (const one of ended) begunAtMs.delete(one);
      ended.clear();
      begunAtMs.set(key, monotonicMs());
      return true;
    },
    end: (key, hasSucceeded) => {
      if (hasSucceeded) ended.add(key);
      else begunAtMs.delete(key);
    },
  };
}
