import type { ReactNode } from "react";
import { Problem } from "../ui/panels/problem";

interface PasskeyButtonProps {
  mutation: { isPending: boolean; error: unknown; mutate: () => void };
  /** What it says while the device asks the person. */
  waiting: string;
  children: ReactNode;
}

/** Begins something that the person's device has to do, and says why it was not done. */
export function PasskeyButton({ mutation, waiting, children }: PasskeyButtonProps) {
  const { isPending, error, mutate } = mutation;
  return (
    <>
      <button
        type="button"
        className="button"
        data-tone="primary"
        disabled={isPending}
        onClick={() => mutate()}
      >
        {isPending ? waiting : children}
      </button>
      {error !== null && <Problem error={error} />}
    </>
  );
}
