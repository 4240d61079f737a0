import { type UseMutationOptions, type UseMutationResult, useMutation } from "@tanstack/react-query";
import { useRef } from "react";

/**
 * A mutation that runs once at a time. The second click of a double click can come before the page has disabled the button: it would
 * create a second passkey, of which the device keeps only the last, or send a change twice.
 */
export function useAction<Result, Input = void>(
  options: UseMutationOptions<Result, Error, Input>,
): UseMutationResult<Result, Error, Input> {
  const isRunning = useRef(false);
  const mutation = useMutation({
    ...options,
    onSettled: async (...outcome) => {
      isRunning.current = false;
      await options.onSettled?.(...outcome);
    },
  });
  const mutate: typeof mutation.mutate = (...input) => {
    if (isRunning.current) return;
    isRunning.current = true;
    mutation.mutate(...input);
  };
  return { ...mutation, mutate } as typeof mutation;
}
